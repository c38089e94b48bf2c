#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cluster/fixture.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {
namespace logged_refusals_test {

/// The statements of the access log about a request that is refused before it is understood.
class LoggedRefusals : public NodesTest {
protected:
    std::string line_of(AccessFormat format, const std::string& bytes, unsigned status) {
        const auto file = folder_.path() / "access.log";
        std::filesystem::remove(file);
        auto settings = config("a");
        settings.log.access = file.string();
        settings.log.format = format;
        start(settings);
        {
            auto connection = client();
            connection.socket.send(bytes);
            EXPECT_EQ(connection.read().status, status);
        }
        kill("a");
        std::ifstream in(file);
        std::string line, second;
        std::getline(in, line);
        EXPECT_FALSE(std::getline(in, second)) << second;
        return line;
    }

private:
    const TemporaryDirectory folder_;
};

TEST_F(LoggedRefusals, ShowTheRequestLineAsFarAsItCame) {
    const auto shown = [&](const std::string& bytes, unsigned status) {
        const auto line = line_of(AccessFormat::json, bytes, status);
        return nlohmann::json::parse(line, nullptr, false);
    };
    const auto version = shown("GET /a?b HTTP/2.0\r\nHost: h\r\n\r\n", 505);
    EXPECT_EQ(version["method"], "GET");
    EXPECT_EQ(version["url"], "/a?b");
    const auto too_long = shown("PUT /" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n", 414);
    EXPECT_EQ(too_long["method"], "PUT");
    EXPECT_EQ(too_long["url"], "/" + std::string(1020, 'x'));
    const auto tls = shown(std::string("\x16\x03\x01\0\x01 ", 6) + std::string(64, '\0'), 400);
    EXPECT_EQ(tls["method"], "");
    EXPECT_TRUE(tls["url"].get<std::string>().starts_with(std::string("\x16\x03\x01\0\x01 ", 6)));
}

TEST_F(LoggedRefusals, StayOneLineInEveryFormat) {
    const auto bytes = "GET /a\"\x1b[2J\\ HTTP/1.1\r\nHost: h\r\n\r\n";
    EXPECT_NE(line_of(AccessFormat::squid, bytes, 400).find(" GET /a\"%1b[2J\\ - "),
              std::string::npos);
    EXPECT_NE(line_of(AccessFormat::combined, bytes, 400).find("\"GET /a\\\"\\x1b[2J\\\\ HTTP/"),
              std::string::npos);
}

}  // namespace logged_refusals_test
}  // namespace proxy::test
