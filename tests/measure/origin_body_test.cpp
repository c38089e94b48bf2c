#include "measure/origin/origin_body.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace measure {
namespace origin_body_test {

OriginBody body_of(std::string_view url) {
    proxy::CacheKey key;
    key.assign(proxy::Scheme::http, boost::beast::http::verb::get, url, {});
    return OriginBody::of(key);
}

std::string content(const OriginBody& body, std::uint64_t begin, std::uint64_t end) {
    std::string out;
    while (begin < end) {
        const auto piece = body.piece(begin).substr(0, end - begin);
        if (piece.empty()) ADD_FAILURE() << "nothing at " << begin;
        if (piece.empty()) break;
        out += piece;
        begin += piece.size();
    }
    return out;
}

TEST(OriginBody, DependsOnTheUrlAlone) {
    EXPECT_EQ(content(body_of("http://a/x"), 0, 5000), content(body_of("http://a/x"), 0, 5000));
    EXPECT_NE(content(body_of("http://a/x"), 0, 64), content(body_of("http://a/y"), 0, 64));
    EXPECT_NE(content(body_of("http://a/x"), 100, 164), content(body_of("http://a/y"), 100, 164));
}

TEST(OriginBody, IsTheSameForAllSpellingsOfOneTargetUri) {
    EXPECT_EQ(body_of("http://a").hash(), body_of("http://A:80/").hash());
    EXPECT_EQ(body_of("http://a/x#part").hash(), body_of("http://a/x").hash());
    EXPECT_NE(body_of("http://a/x?").hash(), body_of("http://a/x").hash());
}

TEST(OriginBody, BeginsWithItsHash) {
    EXPECT_EQ(content(OriginBody(0x0123456789abcdefu), 0, 16), "0123456789abcdef");
}

TEST(OriginBody, HasTheSameBytesAtAPlaceHoweverItIsReached) {
    const OriginBody body = body_of("http://a/x");
    const std::string whole = content(body, 0, 300'000);
    for (const std::uint64_t at : {0u, 1u, 15u, 16u, 17u, 65'520u, 65'521u, 70'000u, 262'084u}) {
        EXPECT_EQ(content(body, at, at + 1000), whole.substr(at, 1000)) << at;
    }
}

TEST(OriginBody, ShowsBlocksThatChangedPlaces) {
    const OriginBody body = body_of("http://a/x");
    for (const std::uint64_t block : {4096u, 65'536u, 1u << 20, 4u << 20}) {
        EXPECT_FALSE(body.matches(block, content(body, 2 * block, 2 * block + 4096))) << block;
    }
}

TEST(OriginBody, MatchesOnlyItself) {
    const OriginBody body = body_of("http://a/x");
    std::string text = content(body, 10, 200'000);
    EXPECT_TRUE(body.matches(10, text));
    EXPECT_TRUE(body.matches(10, ""));
    EXPECT_FALSE(body.matches(11, text));
    EXPECT_FALSE(body_of("http://a/y").matches(10, text));
    text.back() ^= 1;
    EXPECT_FALSE(body.matches(10, text));
}

TEST(OriginBody, CopiesDoNotPointIntoTheirOriginal) {
    auto original = std::make_unique<OriginBody>(std::uint64_t{0xfeed});
    const OriginBody copy = *original;
    const char* before = original->piece(0).data();
    EXPECT_NE(copy.piece(0).data(), before);
    original.reset();
    EXPECT_EQ(content(copy, 0, 16), "000000000000feed");
}

}  // namespace origin_body_test
}  // namespace measure
