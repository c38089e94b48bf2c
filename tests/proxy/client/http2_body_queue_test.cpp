#include "proxy/client/http2_body_queue.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "proxy/client/http2_limits.hpp"

namespace proxy {
namespace http2_body_queue_test {

namespace asio = boost::asio;

/// Gives the queue a piece of these texts, which stay where they are.
bool take(Http2BodyQueue& queue, std::initializer_list<std::string_view> texts) {
    std::size_t bytes = 0;
    for (const auto text : texts) {
        queue.views().push_back(asio::buffer(text));
        bytes += text.size();
    }
    return queue.take_views(bytes);
}

std::string moved(Http2BodyQueue& queue, std::size_t bytes) {
    std::string out;
    queue.move_to(out, bytes);
    return out;
}

TEST(Http2BodyQueue, KeepsASmallPieceSoThatItsSenderGoesOn) {
    Http2BodyQueue queue;
    EXPECT_TRUE(take(queue, {"abc", "def"}));
    EXPECT_FALSE(queue.has_views());
    EXPECT_EQ(queue.kept_bytes(), 6u);
    EXPECT_EQ(moved(queue, 4), "abcd");
    EXPECT_EQ(queue.bytes(), 2u);
    EXPECT_TRUE(take(queue, {"g"}));
    EXPECT_EQ(moved(queue, 3), "efg");
    EXPECT_EQ(queue.bytes(), 0u);
}

TEST(Http2BodyQueue, LeavesALargePieceWhereItIsBehindTheKeptBytes) {
    const std::string large(kHttp2SmallBody, 'x');
    Http2BodyQueue queue;
    ASSERT_TRUE(take(queue, {"ab"}));
    EXPECT_FALSE(take(queue, {large, "yz"}));
    EXPECT_TRUE(queue.has_views());
    EXPECT_EQ(queue.bytes(), large.size() + 4);
    std::string out;
    EXPECT_EQ(queue.move_to(out, 3), 1u) << "bytes of the views alone";
    EXPECT_EQ(out, "abx");
    EXPECT_EQ(queue.move_to(out, large.size()), large.size());
    EXPECT_EQ(out, "ab" + large + "y");
    EXPECT_EQ(moved(queue, 1), "z");
    EXPECT_FALSE(queue.has_views());
    EXPECT_TRUE(queue.views().empty());
}

TEST(Http2BodyQueue, KeepsSmallPiecesUpToALimitEvenWhenNoneBecomesAFrame) {
    Http2BodyQueue queue;
    const std::string piece(1000, 'p');
    for (std::size_t kept = 0; kept + piece.size() <= kHttp2SmallBody; kept += piece.size())
        ASSERT_TRUE(take(queue, {piece}));
    EXPECT_FALSE(take(queue, {piece}));
    EXPECT_LE(queue.kept_bytes(), kHttp2SmallBody);
}

TEST(Http2BodyQueue, KeepsOfATunnelWhatFitsBelowALimit) {
    Http2BodyQueue queue;
    EXPECT_EQ(queue.keep(asio::buffer("abcdef", 6), 4), 4u);
    EXPECT_EQ(queue.keep(asio::buffer("ef", 2), 4), 0u);
    EXPECT_EQ(moved(queue, 3), "abc");
    EXPECT_EQ(queue.keep(asio::buffer("ef", 2), 4), 2u);
    EXPECT_EQ(moved(queue, 3), "def");
}

TEST(Http2BodyQueue, ForgetsAllOfAStreamThatIsOver) {
    const std::string large(kHttp2SmallBody + 1, 'x');
    Http2BodyQueue queue;
    take(queue, {"ab"});
    take(queue, {large});
    queue.clear();
    EXPECT_EQ(queue.bytes(), 0u);
    EXPECT_FALSE(queue.has_views());
}

}  // namespace http2_body_queue_test
}  // namespace proxy
