#include "measure/run/answer_kind.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace measure {
namespace answer_kind_test {

AnswerKind kind(std::string_view cache_status) {
    const std::vector<proxy::Field> fields{{{}, "Cache-Status", cache_status}};
    return answer_kind(fields);
}
AnswerKind by_x_cache(std::string_view value) {
    const std::vector<proxy::Field> fields{{{}, "x-cache", value}};
    return answer_kind(fields);
}

TEST(AnswerKind, ReadsTheWordsOfTheProxy) {
    EXPECT_EQ(kind("a; hit"), AnswerKind::local_hit);
    EXPECT_EQ(kind("a; hit; ttl=30"), AnswerKind::local_hit);
    EXPECT_EQ(kind("a; hit; ttl=30; detail=disk"), AnswerKind::local_hit);
    EXPECT_EQ(kind("a; hit; ttl=30; detail=memory"), AnswerKind::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; detail=PEER_b"), AnswerKind::peer_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; stored; detail=PEER_b"), AnswerKind::peer_hit);
    EXPECT_EQ(kind("a; fwd=stale; fwd-status=200; detail=PEER_b"), AnswerKind::peer_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; stored"), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("a; fwd=vary-miss"), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("a; fwd=stale; fwd-status=200; stored"), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("a; fwd=request"), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("a; fwd=bypass"), AnswerKind::uncacheable);
    EXPECT_EQ(kind("a; fwd=method"), AnswerKind::uncacheable);
}

TEST(AnswerKind, TakesABodyInBlocksForWhatMostOfItWas) {
    EXPECT_EQ(kind("a; fwd=partial"), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("a; fwd=partial; detail=PEER_b"), AnswerKind::peer_hit);
    EXPECT_EQ(kind("a; fwd=partial; detail=mostly_local"), AnswerKind::local_hit);
}

TEST(AnswerKind, CountsAValidatedCopyAsLocal) {
    EXPECT_EQ(kind("a; fwd=stale; fwd-status=304"), AnswerKind::local_hit);
}

TEST(AnswerKind, CountsAFollowerAsLocalWhateverItFollows) {  // as the proxy's own counters do
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed"), AnswerKind::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed; detail=PEER_b"), AnswerKind::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed=?1"), AnswerKind::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed=?0"), AnswerKind::origin_fetch);
}

TEST(AnswerKind, TakesTheLastMember) {  // RFC 9211 §2: the cache nearest to the client is last
    EXPECT_EQ(kind("b; hit; ttl=9, a; fwd=uri-miss; detail=PEER_b"), AnswerKind::peer_hit);
    EXPECT_EQ(kind("b; fwd=uri-miss; collapsed, a; fwd=uri-miss; detail=PEER_b"),
              AnswerKind::peer_hit);
    const std::vector<proxy::Field> two_lines{{{}, "Cache-Status", "b; fwd=uri-miss; stored"},
                                              {{}, "Age", "0"},
                                              {{}, "cache-status", "a; hit"}};
    EXPECT_EQ(answer_kind(two_lines), AnswerKind::local_hit);
}

TEST(AnswerKind, IsNotFooledByQuotedText) {
    EXPECT_EQ(kind("\"x; hit, y\"; fwd=uri-miss"), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("a; fwd=uri-miss; detail=\"; hit\""), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("a; fwd=uri-miss; detail=\"PEER_node 7\""), AnswerKind::peer_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; key=\"\\\"; hit\""), AnswerKind::origin_fetch);
    EXPECT_EQ(kind("hit; fwd=uri-miss"), AnswerKind::origin_fetch);  // a node may be called so
}

TEST(AnswerKind, AdmitsNotToKnow) {
    EXPECT_EQ(answer_kind({}), AnswerKind::unknown);
    EXPECT_EQ(kind(""), AnswerKind::unknown);
    EXPECT_EQ(kind("a"), AnswerKind::unknown);
    EXPECT_EQ(kind("a; ttl=3"), AnswerKind::unknown);
    EXPECT_EQ(by_x_cache("Error from cloud"), AnswerKind::unknown);
}

TEST(AnswerKind, TellsARefusalOfTheProxyFromAnAnswerOfTheOrigin) {
    const auto is_own = [](std::string_view member) {
        return is_proxys_own(std::vector<proxy::Field>{{{}, "Cache-Status", member}});
    };
    EXPECT_TRUE(is_own("a; detail=not_allowed"));
    EXPECT_FALSE(is_own("a; fwd=uri-miss; detail=x")) << "the origin's";
    EXPECT_FALSE(is_own("a; hit; ttl=3"));
    EXPECT_FALSE(is_own("a; fwd=uri-miss; collapsed"));
    EXPECT_FALSE(is_proxys_own({})) << "it does not say";
    const std::vector<proxy::Field> refused{{{}, "Cache-Status", "b; hit"},
                                            {{}, "Cache-Status", "a; detail=not_allowed"}};
    EXPECT_EQ(answer_detail(refused), "not_allowed");
    EXPECT_EQ(answer_detail({}), "");
}

TEST(AnswerKind, ReadsXCacheOfOtherProxies) {
    EXPECT_EQ(by_x_cache("HIT from squid1"), AnswerKind::local_hit);
    EXPECT_EQ(by_x_cache("MISS"), AnswerKind::origin_fetch);
    EXPECT_EQ(by_x_cache("MISS, HIT"), AnswerKind::local_hit);
    EXPECT_EQ(by_x_cache("HIT, MISS"), AnswerKind::origin_fetch);
    const std::vector<proxy::Field> both{{{}, "Cache-Status", "a; fwd=uri-miss"},
                                         {{}, "X-Cache", "HIT"}};
    EXPECT_EQ(answer_kind(both), AnswerKind::origin_fetch);
}

}  // namespace answer_kind_test
}  // namespace measure
