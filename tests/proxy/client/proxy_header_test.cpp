#include "proxy/client/proxy_header.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace proxy_header_test {

using namespace std::string_literals;

const auto kSignature = "\r\n\r\n\0\r\nQUIT\n"s;

/// With `size` in the length field, whatever the length of the rest.
std::string header(unsigned command, unsigned kind, std::size_t size, const std::string& rest) {
    return kSignature + static_cast<char>(command) + static_cast<char>(kind) +
           static_cast<char>(size >> 8) + static_cast<char>(size & 255) + rest;
}
std::string header(unsigned command, unsigned kind, const std::string& rest) {
    return header(command, kind, rest.size(), rest);
}
const auto kTcp4 = "\x01\x02\x03\x04\x7f\0\0\x01\x30\x39\0\x50"s;
const auto kTcp6 =
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x09"s + std::string(16, 'd') + "\x30\x39\0\x50"s;

std::string client(const std::string& bytes) {
    const auto parsed = parse_proxy_header(bytes);
    if (!parsed) return "malformed";
    return parsed->client ? parsed->client->to_string() : "its own";
}

TEST(ProxyHeader, NamesTheClient) {
    EXPECT_EQ(client(header(0x21, 0x11, kTcp4)), "1.2.3.4");
    EXPECT_EQ(client(header(0x21, 0x21, kTcp6)), "2001:db8::9");
    EXPECT_EQ(client(header(0x21, 0x11, kTcp4 + "\x04\0\0"s)), "1.2.3.4") << "what proxies add";
    const auto mapped = std::string(10, '\0') + "\xff\xff\x0a\0\0\x01"s + kTcp6.substr(16);
    EXPECT_EQ(client(header(0x21, 0x21, mapped)), "10.0.0.1");
}

TEST(ProxyHeader, NamesNoClientForTheProxysOwnConnections) {
    EXPECT_EQ(client(header(0x20, 0x00, "")), "its own");
    EXPECT_EQ(client(header(0x20, 0x11, kTcp4)), "its own") << "a health check";
    EXPECT_EQ(client(header(0x21, 0x00, "")), "its own");
    EXPECT_EQ(client(header(0x21, 0x31, std::string(216, 'u'))), "its own");
}

TEST(ProxyHeader, IsRefusedWhenItIsNotWhole) {
    for (const auto& bad :
         {""s, kSignature, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"s, header(0x11, 0x11, kTcp4),
          header(0x22, 0x11, kTcp4), header(0x21, 0x12, kTcp4), header(0x21, 0x11, kTcp4.substr(1)),
          header(0x21, 0x21, kTcp6.substr(1)), header(0x21, 0x11, 13, kTcp4),
          header(0x21, 0x11, 11, kTcp4), header(0x21, 0x41, kTcp4)})
        EXPECT_EQ(client(bad), "malformed");
}

TEST(ProxyHeader, OfVersion1NamesTheClientInALine) {
    EXPECT_EQ(client("PROXY TCP4 1.2.3.4 127.0.0.1 12345 80\r\n"), "1.2.3.4");
    EXPECT_EQ(client("PROXY TCP6 2001:db8::9 ::1 1 65535\r\n"), "2001:db8::9");
    EXPECT_EQ(client("PROXY TCP6 ::ffff:10.0.0.1 ::ffff:10.0.0.2 1 2\r\n"), "10.0.0.1");
    EXPECT_EQ(client("PROXY UNKNOWN\r\n"), "its own");
    EXPECT_EQ(client("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n"), "its own");
    const auto full = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"s;
    const auto longest = "PROXY UNKNOWN " + full + " " + full + " 65535 65535\r\n";
    EXPECT_EQ(longest.size(), kMaxProxyLine);
    EXPECT_EQ(client(longest), "its own");
}

TEST(ProxyHeader, OfVersion1IsRefusedWhenItIsNotWhole) {
    for (const auto* rest :
         {"", "\r\n", "TCP4 1.2.3.4 127.0.0.1 1 2", "TCP4 1.2.3.4 127.0.0.1 1 2\n",
          "TCP4 1.2.3.4 127.0.0.1 1\r\n", "TCP4 1.2.3.4 127.0.0.1 1 2 3\r\n",
          "TCP4 1.2.3.4 127.0.0.1  1 2\r\n", "TCP4 1.2.3.4 127.0.0.1 1 65536\r\n",
          "TCP4 1.2.3.4 127.0.0.1 -1 2\r\n", "TCP4 ::1 127.0.0.1 1 2\r\n",
          "TCP6 1.2.3.4 127.0.0.1 1 2\r\n", "TCP4 1.2.3 127.0.0.1 1 2\r\n",
          "TCP4 host 127.0.0.1 1 2\r\n", "UDP4 1.2.3.4 127.0.0.1 1 2\r\n", "UNKNOWNS\r\n",
          "tcp4 1.2.3.4 127.0.0.1 1 2\r\n"})
        EXPECT_EQ(client("PROXY " + std::string(rest)), "malformed") << rest;
    EXPECT_EQ(client("PROXY UNKNOWN " + std::string(kMaxProxyLine, 'x') + "\r\n"), "malformed");
}

TEST(ProxyHeader, ShowsItsVersionInItsFirstBytes) {
    EXPECT_EQ(proxy_header_version("PROXY UNKNOW"), ProxyHeaderVersion::one);
    EXPECT_EQ(proxy_header_version(kSignature), ProxyHeaderVersion::two);
    EXPECT_EQ(proxy_header_version("GET / HTTP/1"), ProxyHeaderVersion::none);
    EXPECT_EQ(proxy_header_version("PROXYS TCP4 "), ProxyHeaderVersion::none);
}

TEST(ProxyHeader, SaysHowMuchFollowsWithinALimit) {
    EXPECT_EQ(proxy_header_rest(header(0x21, 0x11, kTcp4)), 12u);
    EXPECT_EQ(proxy_header_rest(header(0x21, 0x11, kMaxProxyHeaderRest, "")), kMaxProxyHeaderRest);
    EXPECT_FALSE(proxy_header_rest(header(0x21, 0x11, kMaxProxyHeaderRest + 1, "")));
    EXPECT_FALSE(proxy_header_rest(header(0x21, 0x11, 0xffff, "")));
    EXPECT_FALSE(proxy_header_rest(header(0x21, 0x11, "").substr(1)));
}

}  // namespace proxy_header_test
}  // namespace proxy
