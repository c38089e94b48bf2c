#include "proxy/http/plain_head.hpp"

#include "proxy/http/message_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy {
namespace plain_head_test {

/// What MessageParser makes known about a head.
template <bool IsRequest>
std::string described(const Head& head, std::optional<std::uint64_t> length, bool keep_alive,
                      bool is_done) {
    auto out = IsRequest ? std::string(head.method) + " " + std::string(head.target)
                         : std::to_string(head.status) + " " + std::string(head.reason);
    out += " " + std::to_string(static_cast<int>(head.verb)) + " " + std::to_string(head.version);
    for (const auto& line : head.fields)
        out.append("\n")
            .append(std::to_string(static_cast<int>(line.id)))
            .append(" ")
            .append(line.name)
            .append(":")
            .append(line.value);
    return out + "\n" + (length ? std::to_string(*length) : "no length") +
           (keep_alive ? " keep-alive" : " close") + (is_done ? " done" : " body");
}

/// Nothing: the head is not plain.
template <bool IsRequest>
std::optional<std::string> split(const std::string& bytes) {
    Head head;
    const auto framing = split_plain_head<IsRequest>(bytes, {}, head);
    if (!framing) return std::nullopt;
    return described<IsRequest>(head, framing->length, framing->keep_alive,
                                framing->length.value_or(0) == 0);
}

/// Beast's opinion. Nothing: it refuses the head.
template <bool IsRequest>
std::optional<std::string> judged(const std::string& bytes) {
    Head head;
    BeastParser<IsRequest> parser(head, {});
    if (parser.parse_head(bytes) != ParseError::ok) return std::nullopt;
    const auto length = parser.content_length();
    return described<IsRequest>(head, length ? std::optional<std::uint64_t>(*length) : std::nullopt,
                                parser.keep_alive(), parser.is_done());
}

/// A head of the test, and all that come from it by one other octet, one more or one fewer.
template <class Check>
void for_each_change(const std::string& head, Check check) {
    for (std::size_t at = 0; at < head.size(); ++at) {
        for (int octet = 0; octet < 256; ++octet) {
            auto changed = head;
            changed[at] = static_cast<char>(octet);
            check(changed);
        }
        for (const char octet : std::string(" \t\r\n:,;0#\"/\0\x7f\xff", 14))
            check(std::string(head).insert(at, 1, octet));
        check(std::string(head).erase(at, 1));
    }
}

template <bool IsRequest>
void compare(const std::string& head) {
    std::size_t wrong = 0;
    for_each_change(head, [&wrong](const std::string& bytes) {
        const auto plain = split<IsRequest>(bytes);
        if (plain && plain != judged<IsRequest>(bytes) && ++wrong < 4)
            ADD_FAILURE() << bytes << "\nwas taken as\n"
                          << *plain << "\nand Beast has\n"
                          << judged<IsRequest>(bytes).value_or("refused it");
    });
    EXPECT_EQ(wrong, 0u);
}

const std::vector<std::string> kPlainRequests = {
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET http://h:80/a?b HTTP/1.1\r\nhost:h\r\nAccept: */*\r\nConnection: Keep-Alive\r\n\r\n",
    "PUT /x HTTP/1.1\r\nHost: [::1]:8\r\nContent-Length: 12\r\nConnection: close\r\n\r\n",
};
const std::vector<std::string> kPlainResponses = {
    "HTTP/1.1 200 OK\r\nContent-Length: 05\r\nETag: \"a\"\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nX: \t a b \r\nConnection: close\r\n\r\n",
    "HTTP/1.1 404 \r\nContent-Length:0\r\n\r\n",
};

TEST(PlainHead, IsSplitAsBeastDoes) {
    for (const auto& head : kPlainRequests) {
        EXPECT_TRUE(split<true>(head)) << head;
        EXPECT_EQ(split<true>(head), judged<true>(head)) << head;
        compare<true>(head);
    }
    for (const auto& head : kPlainResponses) {
        EXPECT_TRUE(split<false>(head)) << head;
        EXPECT_EQ(split<false>(head), judged<false>(head)) << head;
        compare<false>(head);
    }
}

TEST(PlainHead, LeavesTheOthersToBeast) {
    for (const std::string line :
         {"Transfer-Encoding: chunked", "Upgrade: x", "Connection: upgrade",
          "Connection: ", "Proxy-Connection: close", "Host: h", " folded", "Content-Length: 1, 1",
          "Content-Length: 1\r\nContent-Length: 1", "Content-Length: 1234567890123456789",
          "Content-Length: +1", "no colon"}) {
        const auto rest = "Host: h\r\n" + line + "\r\n\r\n";
        EXPECT_FALSE(split<true>("GET / HTTP/1.1\r\n" + rest)) << line;
    }
    EXPECT_FALSE(split<true>("GET / HTTP/1.0\r\nHost: h\r\n\r\n"));
    EXPECT_FALSE(split<true>("GET / HTTP/1.1\r\n\r\n"));
    EXPECT_FALSE(split<false>("HTTP/1.1 200 OK\r\n\r\n"));  // the connection ends the body
    EXPECT_FALSE(split<false>("HTTP/1.1 204 x\r\nContent-Length: 1\r\n\r\n"));
}

TEST(PlainHead, KeepsToTheLimits) {
    const std::string bytes = "GET /abc HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n";
    const auto takes = [&bytes](const HeadLimits& limits) {
        Head head;
        return split_plain_head<true>(bytes, limits, head).has_value();
    };
    const std::size_t line = bytes.find('\n');
    EXPECT_TRUE(takes({line, bytes.size(), 2}));
    EXPECT_FALSE(takes({line - 1, bytes.size(), 2}));
    EXPECT_FALSE(takes({line, bytes.size() - 1, 2}));
    EXPECT_FALSE(takes({line, bytes.size(), 1}));
}

}  // namespace plain_head_test
}  // namespace proxy
