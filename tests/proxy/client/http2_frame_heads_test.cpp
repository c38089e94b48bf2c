#include "proxy/client/http2_frame_heads.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy {
namespace http2_frame_heads_test {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::uint8_t kPing = NGHTTP2_PING, kData = NGHTTP2_DATA, kEnd = NGHTTP2_FLAG_END_STREAM,
                       kPadded = NGHTTP2_FLAG_PADDED;

std::string frame(std::uint8_t type, std::uint8_t flags, std::string_view payload) {
    std::string out;
    for (const auto shift : {16, 8, 0})
        out.push_back(static_cast<char>(payload.size() >> shift & 0xff));
    out.push_back(static_cast<char>(type));
    out.push_back(static_cast<char>(flags));
    return out.append({"\0\0\0\1", 4}).append(payload);
}

/// "type/flags/content" of each frame, from pieces of so many bytes.
std::vector<std::string> heads_of(const std::string& bytes, std::size_t piece) {
    Http2FrameHeads heads;
    std::vector<std::string> found;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        heads.read(std::string_view(bytes).substr(at, piece), [&](const Http2FrameHead& head) {
            found.push_back(std::to_string(head.type) + '/' + std::to_string(head.flags) + '/' +
                            std::to_string(head.content));
        });
    return found;
}

TEST(Http2FrameHeads, AreFoundInPiecesOfAnySize) {
    const auto bytes = std::string(kPreface) + frame(4, 0, {}) + frame(kPing, 1, "12345678") +
                       frame(0xee, 0xff, std::string(70'000, '\xff')) + frame(kData, kEnd, "abc");
    const std::vector<std::string> expected{"4/0/0", "6/1/8", "238/255/70000", "0/1/3"};
    for (const std::size_t piece : {1u, 2u, 9u, 10u, 1000u, 100'000u})
        EXPECT_EQ(heads_of(bytes, piece), expected) << piece;
}

TEST(Http2FrameHeads, PaddingIsNoContent) {  // RFC 9113 §6.1
    const auto padded = [](std::string_view payload) { return frame(kData, kPadded, payload); };
    const auto bytes = std::string(kPreface) + padded({"\0abc", 4}) + padded({"\2a\0\0", 4}) +
                       padded({"\3\0\0\0", 4}) + padded({"\xff", 1}) + padded({}) +
                       frame(kPing, kPadded, "12345678");
    const std::vector<std::string> expected{"0/8/3", "0/8/1", "0/8/0", "0/8/0", "0/8/0", "6/8/8"};
    for (const std::size_t piece : {1u, 9u, 10u, 1000u})
        EXPECT_EQ(heads_of(bytes, piece), expected) << piece;
}

TEST(Http2FrameHeads, AFrameCostsByWhatItBrings) {
    EXPECT_EQ(price_of({NGHTTP2_HEADERS, 0, 0}), 0);
    EXPECT_EQ(price_of({NGHTTP2_CONTINUATION, 0, 10}), 0);
    EXPECT_EQ(price_of({NGHTTP2_CONTINUATION, 0, 0}), 1);
    EXPECT_EQ(price_of({kData, 0, 20}), 0);
    EXPECT_EQ(price_of({kData, 0, 0}), 1);
    EXPECT_EQ(price_of({kData, 0, 1}), 1.0 / 32);
    EXPECT_EQ(price_of({kData, kEnd, 0}), 1.0 / 32);
    EXPECT_EQ(price_of({kPing, 0, 8}), 1);
    EXPECT_EQ(price_of({0xee, 0, 1000}), 1);
}

}  // namespace http2_frame_heads_test
}  // namespace proxy
