#include "proxy/cache/store_update.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/head.hpp"

namespace proxy {
namespace {

using boost::beast::http::verb;

Head head_of(unsigned status, Fields fields) {
    Head head;
    head.status = status;
    head.fields.assign(fields.begin(), fields.end());
    return head;
}

TEST(HeadOfWhatIsStored, SpeaksOfItUnlessItSaysOtherwise) {  // RFC 9111 §4.3.5
    StoredResponse stored;
    stored.body->add_block(4, {});
    stored.body->append("body");
    const test::Head fields("ETag: \"1\"\nLast-Modified: Thu, 19 Nov 2026 00:00:00 GMT");
    const auto speaks = [&](const char* lines) {
        const test::Head text(lines);
        return speaks_of(head_of(200, text), stored, fields);
    };
    EXPECT_TRUE(speaks(""));
    EXPECT_TRUE(speaks("ETag: \"1\"\nContent-Length: 4"));
    EXPECT_FALSE(speaks("ETag: \"2\"\nContent-Length: 4"));
    EXPECT_FALSE(speaks("ETag: \"1\"\nContent-Length: 5"));
    EXPECT_FALSE(speaks("Last-Modified: Fri, 20 Nov 2026 00:00:00 GMT"));
}

class OwnTargetTest : public ::testing::Test {
protected:
    OwnTargetTest() { key_.assign(Scheme::http, verb::post, "http://h/a", {}); }
    bool names(const char* lines, verb method = verb::post, unsigned status = 200) const {
        const test::Head text(lines);
        return names_its_own_target(method, head_of(status, text), key_);
    }

private:
    CacheKey key_;
};

TEST_F(OwnTargetTest, IsNamedByContentLocation) {  // RFC 9110 §9.3.3
    EXPECT_TRUE(names("Content-Location: http://h/a"));
    EXPECT_TRUE(names("Content-Location: /a"));
    EXPECT_TRUE(names("Content-Location: a"));
    EXPECT_FALSE(names("Content-Location: /b"));
    EXPECT_FALSE(names("Content-Location: http://other/a"));
    EXPECT_FALSE(names(""));
}

TEST_F(OwnTargetTest, IsWhatAGetWouldBringOnlyAfterPostAnd200) {
    EXPECT_FALSE(names("Content-Location: /a", verb::put));
    EXPECT_FALSE(names("Content-Location: /a", verb::post, 201));
    EXPECT_FALSE(names("Content-Location: /a", verb::post, 206));
}

}  // namespace
}  // namespace proxy
