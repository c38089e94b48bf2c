#include "proxy/http/merge_304.hpp"

#include "proxy/http/freshness.hpp"
#include "tests/proxy/http/head.hpp"

#include <gmock/gmock.h>

namespace proxy {
namespace merge_304_test {

using namespace std::chrono_literals;
using test::Head;
using test::lines_of;
using testing::ElementsAre;

std::vector<std::string> merged(const char* stored, const char* not_modified) {
    const Head stored_head(stored), not_modified_head(not_modified);
    return lines_of(merge_304(stored_head, not_modified_head));
}

bool applies(const char* not_modified, const char* stored) {
    const Head stored_head(stored), not_modified_head(not_modified);
    return applies_to(not_modified_head, validators_of(stored_head));
}

TEST(Merge304, ReplacesEveryFieldThatThe304Carries) {  // RFC 9111 §3.2, behaviour 36
    EXPECT_THAT(merged("X-A: 1\nX-Foo: old\nCache-Control: max-age=1\nContent-Type: a",
                       "cache-control: max-age=9\nx-foo: new\nContent-Type: b\nX-New: 1"),
                ElementsAre("X-A: 1", "cache-control: max-age=9", "x-foo: new", "Content-Type: b",
                            "X-New: 1"));
}

TEST(Merge304, LeavesAContentRangeOut) {  // RFC 9110 §14.4
    EXPECT_THAT(merged("X-A: 1", "Content-Range: bytes 0-1/2\nX-B: 1"),
                ElementsAre("X-A: 1", "X-B: 1"));
}

TEST(Merge304, ReplacesAllLinesOfAName) {
    EXPECT_THAT(merged("Set-Cookie: a\nSet-Cookie: b\nVia: x", "Set-Cookie: c"),
                ElementsAre("Via: x", "Set-Cookie: c"));
    EXPECT_THAT(merged("Set-Cookie: a", "Set-Cookie: c\nSet-Cookie: d"),
                ElementsAre("Set-Cookie: c", "Set-Cookie: d"));
}

TEST(Merge304, KeepsContentLengthAndHopByHopOut) {  // RFC 9111 §3.2
    EXPECT_THAT(merged("Content-Length: 5\nX-A: 1\nX-B: 2",
                       "Content-Length: 0\nConnection: X-B\nX-B: 3\nKeep-Alive: 5\n"
                       "Transfer-Encoding: chunked"),
                ElementsAre("Content-Length: 5", "X-A: 1", "X-B: 2"));
}

TEST(Merge304, TakesOnlyTheNewAge) {
    EXPECT_THAT(merged("Age: 100\nX-A: 1", "X-B: 1"), ElementsAre("X-A: 1", "X-B: 1"));
    EXPECT_THAT(merged("Age: 100", "Age: 3"), ElementsAre("Age: 3"));
}

TEST(Merge304, LeavesTheTagThatWasGivenToTheStoredBytes) {
    EXPECT_THAT(merged("ETag: W/\"a\"\nX-A: 1", "ETag: \"a\"\nX-B: 1"),
                ElementsAre("ETag: W/\"a\"", "X-A: 1", "X-B: 1"));
    EXPECT_THAT(merged("ETag: \"a\"", "ETag: W/\"a\""), ElementsAre("ETag: \"a\""));
    EXPECT_THAT(merged("X-A: 1", "ETag: \"a\""), ElementsAre("X-A: 1", "ETag: \"a\""));
}

TEST(Merge304, LeavesTheCodingThatTheStoredBytesHave) {
    EXPECT_THAT(merged("X-A: 1", "Content-Encoding: gzip"), ElementsAre("X-A: 1"));
    EXPECT_THAT(merged("Content-Encoding: gzip", "Content-Encoding: br\nX-A: 1"),
                ElementsAre("Content-Encoding: gzip", "X-A: 1"));
    EXPECT_THAT(merged("Content-Encoding: gzip", "Content-Encoding: identity"),
                ElementsAre("Content-Encoding: gzip"));
    EXPECT_THAT(merged("Content-Encoding: gzip", "content-encoding: GZIP"),
                ElementsAre("content-encoding: GZIP"));
    EXPECT_THAT(merged("Content-Encoding: a", "Content-Encoding: b"),
                ElementsAre("Content-Encoding: b"));
}

TEST(Merge304, TakesATagThatContradictsItselfForNone) {
    EXPECT_THAT(merged("ETag: \"a\"", "ETag: \"a\"\nETag: \"b\""),
                ElementsAre("ETag: \"a\"", "ETag: \"b\""));
    EXPECT_THAT(merged("ETag:\nETag: \"b\"", "ETag:\nETag: \"b\""),
                ElementsAre("ETag: ", "ETag: \"b\""));
}

TEST(Merge304, SetsTheNewLifetime) {  // behaviour 36
    const WallTime now = std::chrono::sys_days(2026y / 11 / 20);
    const Head stored("Cache-Control: max-age=1\nDate: Thu, 19 Nov 2026 00:00:00 GMT");
    const Head update("Cache-Control: max-age=60\nDate: Fri, 20 Nov 2026 00:00:00 GMT");
    const auto f = freshness_of(200, merge_304(stored, update), now, now, {});
    EXPECT_EQ(f.lifetime, 60s);
    EXPECT_EQ(f.initial_age, 0s);
}

TEST(Applies304, ComparesWhatItCarries) {  // RFC 9111 §4.3.4
    EXPECT_TRUE(applies("ETag: \"a\"", "ETag: \"a\""));
    EXPECT_FALSE(applies("ETag: \"b\"", "ETag: \"a\""));
    EXPECT_TRUE(applies("ETag: W/\"a\"", "ETag: \"a\""));
    EXPECT_TRUE(applies("ETag: \"a\"", "ETag: W/\"a\""));  // nginx, of what it compresses
    EXPECT_FALSE(applies("ETag: \"a\"", "Server: x"));
    EXPECT_TRUE(applies("ETag: a", "ETag: a"));
    EXPECT_TRUE(applies("Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT",
                        "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT"));
    EXPECT_FALSE(applies("Last-Modified: Tue, 15 Nov 1994 12:45:27 GMT",
                         "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT"));
}

TEST(Applies304, TrustsABare304) {
    EXPECT_TRUE(applies("Server: x", "ETag: \"a\""));
}

TEST(Merge304, TakesATagWithoutTheMarkOfACodingForTheStoredOne) {  // Apache's mod_deflate
    for (const auto* marked :
         {"ETag: \"x-gzip\"", "ETag: \"x-br\"", "ETag: \"x--gzip\"", "ETag: W/\"x-gzip\""}) {
        EXPECT_TRUE(applies("ETag: \"x\"", marked)) << marked;
        EXPECT_TRUE(applies(marked, "ETag: \"x\"")) << marked;
        EXPECT_THAT(merged(marked, "ETag: \"x\""), ElementsAre(marked))
            << "the stored one was given to these bytes";
    }
    EXPECT_FALSE(applies("ETag: \"y\"", "ETag: \"x-gzip\""));
    EXPECT_FALSE(applies("ETag: \"x-br\"", "ETag: \"x-gzip\"")) << "another representation";
    EXPECT_FALSE(applies("ETag: \"x\"", "ETag: \"x-2\""));
    EXPECT_FALSE(applies("ETag: \"\"", "ETag: \"-gzip\""));
    EXPECT_FALSE(applies("ETag: \"x\"", "ETag: \"x-gzip-2\""));
}

}  // namespace merge_304_test
}  // namespace proxy
