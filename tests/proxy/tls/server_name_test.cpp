#include "proxy/tls/server_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace server_name_test {

using namespace std::string_literals;

std::string number(std::size_t value) {
    return {static_cast<char>(value >> 8), static_cast<char>(value)};
}

/// The extension with one entry.
std::string extension(const std::string& name, char type = 0) {
    return number(name.size() + 3) + type + number(name.size()) + name;
}

TEST(ServerName, IsInLowerCaseWithoutAFinalDot) {  // RFC 6066 §3
    EXPECT_EQ(server_name(extension("a.example")), "a.example");
    EXPECT_EQ(server_name(extension("WWW.A.Example.")), "www.a.example");
    EXPECT_EQ(plain_server_name("A."), "a");
}

TEST(ServerName, IsEmptyInWhatIsMalformed) {
    const auto good = extension("a.example");
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_EQ(server_name(good.substr(0, size)), "") << size;
    EXPECT_EQ(server_name(good + "x"), "");
    EXPECT_EQ(server_name(extension("a.example", 1)), "") << "another type of name";
    EXPECT_EQ(server_name(extension("a\0b"s)), "");
    EXPECT_EQ(server_name(extension("")), "");
    EXPECT_EQ(server_name(extension(std::string(255, 'a'))).size(), 255u);
    EXPECT_EQ(server_name(extension(std::string(256, 'a'))), "");
}

}  // namespace server_name_test
}  // namespace proxy
