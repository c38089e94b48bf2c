#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace logged_origin_test {

/// The statements of the access log about the server that was asked.
class LoggedOrigin : public NodesTest {
protected:
    ~LoggedOrigin() override { std::filesystem::remove(file_); }

    /// The lines for these requests, and of their answers' heads.
    std::vector<std::string> lines_of(AccessFormat format,
                                      const std::vector<std::string>& targets) {
        auto settings = config("a");
        settings.log.access = file_;
        settings.log.format = format;
        std::filesystem::remove(file_);
        start(settings);
        heads_.clear();
        for (const auto& target : targets) heads_.push_back(get("a", target).head);
        kill("a");
        std::vector<std::string> lines;
        std::ifstream in(file_);
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        EXPECT_EQ(lines.size(), targets.size());
        lines.resize(targets.size());
        return lines;
    }
    std::string server() const { return origin_authority(); }
    static std::string word(const std::string& line, std::size_t number) {
        std::istringstream in(line);
        std::string word;
        for (std::size_t i = 0; i <= number; ++i) in >> word;
        return word;
    }

    const std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) /
                                        ("hearsay_origin_" + std::to_string(::getpid()) + ".log");
    std::vector<std::string> heads_;
};

TEST_F(LoggedOrigin, IsItsAddressInJsonOfWhatItAnsweredAlone) {
    const auto lines = lines_of(AccessFormat::json, {"/one", "/one"});
    const auto miss = nlohmann::json::parse(lines[0]), hit = nlohmann::json::parse(lines[1]);
    EXPECT_EQ(miss.at("origin"), server());
    EXPECT_FALSE(hit.contains("origin")) << lines[1];
    EXPECT_EQ(miss.at("url"), "http://origin.test/one") << "which is not where it was asked";
}

TEST_F(LoggedOrigin, IsToldAlsoWhenItConfirmsWhatIsStored) {
    const auto scripted = origin.set([](Exchange& e) {
        if (e.field("If-None-Match").empty())
            e.answer("ETag: \"a\"\r\nCache-Control: no-cache\r\n", "x");
        else
            e.send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n");
    });
    const auto lines = lines_of(AccessFormat::json, {"/one", "/one"});
    EXPECT_EQ(nlohmann::json::parse(lines[1]).at("origin"), server());
}

TEST_F(LoggedOrigin, IsItsAddressInSquidsFormatAndTheSizeHasTheHead) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh(), std::string(1000, 'x')); });
    const auto lines = lines_of(AccessFormat::squid, {"/one", "/one"});
    EXPECT_EQ(word(lines[0], 8), "HIER_DIRECT/127.0.0.1") << lines[0];
    EXPECT_EQ(word(lines[1], 8), "HIER_NONE/-") << lines[1];
    for (std::size_t i = 0; i < 2; ++i)  // the head, its empty line, the body
        EXPECT_EQ(word(lines[i], 4), std::to_string(heads_[i].size() + 2 + 1000)) << lines[i];
}

TEST_F(LoggedOrigin, StandsBehindApachesFormat) {
    const auto lines = lines_of(AccessFormat::combined, {"/one", "/one"});
    EXPECT_TRUE(lines[0].ends_with(" \"-\" \"-\" " + server())) << lines[0];
    EXPECT_TRUE(lines[1].ends_with(" \"-\" \"-\" -")) << lines[1];
}

}  // namespace logged_origin_test
}  // namespace proxy::test
