#include "measure/run/reported_outcome.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace measure {
namespace reported_outcome_test {

ReportedOutcome kind(std::string_view cache_status) {
    const std::vector<proxy::Field> fields{{{}, "Cache-Status", cache_status}};
    return reported_outcome(fields);
}
ReportedOutcome by_x_cache(std::string_view value) {
    const std::vector<proxy::Field> fields{{{}, "x-cache", value}};
    return reported_outcome(fields);
}

TEST(ReportedOutcome, ReadsTheWordsOfTheProxy) {
    EXPECT_EQ(kind("a; hit"), ReportedOutcome::local_hit);
    EXPECT_EQ(kind("a; hit; ttl=30"), ReportedOutcome::local_hit);
    EXPECT_EQ(kind("a; hit; ttl=30; detail=disk"), ReportedOutcome::local_hit);
    EXPECT_EQ(kind("a; hit; ttl=30; detail=memory"), ReportedOutcome::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; detail=PEER_b"), ReportedOutcome::peer_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; stored; detail=PEER_b"), ReportedOutcome::peer_hit);
    EXPECT_EQ(kind("a; fwd=stale; fwd-status=200; detail=PEER_b"), ReportedOutcome::peer_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; stored"), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("a; fwd=vary-miss"), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("a; fwd=stale; fwd-status=200; stored"), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("a; fwd=request"), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("a; fwd=bypass"), ReportedOutcome::uncacheable);
    EXPECT_EQ(kind("a; fwd=method"), ReportedOutcome::uncacheable);
}

TEST(ReportedOutcome, TakesABodyInBlocksForWhatMostOfItWas) {
    EXPECT_EQ(kind("a; fwd=partial"), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("a; fwd=partial; detail=PEER_b"), ReportedOutcome::peer_hit);
    EXPECT_EQ(kind("a; fwd=partial; detail=mostly_local"), ReportedOutcome::local_hit);
}

TEST(ReportedOutcome, CountsAValidatedCopyAsLocal) {
    EXPECT_EQ(kind("a; fwd=stale; fwd-status=304"), ReportedOutcome::local_hit);
}

TEST(ReportedOutcome, CountsAFollowerAsLocalWhateverItFollows) {  // as the proxy's own counters do
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed"), ReportedOutcome::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed; detail=PEER_b"), ReportedOutcome::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed=?1"), ReportedOutcome::local_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; collapsed=?0"), ReportedOutcome::origin_fetch);
}

TEST(ReportedOutcome, TakesTheLastMember) {  // RFC 9211 §2: the cache nearest to the client is last
    EXPECT_EQ(kind("b; hit; ttl=9, a; fwd=uri-miss; detail=PEER_b"), ReportedOutcome::peer_hit);
    EXPECT_EQ(kind("b; fwd=uri-miss; collapsed, a; fwd=uri-miss; detail=PEER_b"),
              ReportedOutcome::peer_hit);
    const std::vector<proxy::Field> two_lines{{{}, "Cache-Status", "b; fwd=uri-miss; stored"},
                                              {{}, "Age", "0"},
                                              {{}, "cache-status", "a; hit"}};
    EXPECT_EQ(reported_outcome(two_lines), ReportedOutcome::local_hit);
}

TEST(ReportedOutcome, IsNotFooledByQuotedText) {
    EXPECT_EQ(kind("\"x; hit, y\"; fwd=uri-miss"), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("a; fwd=uri-miss; detail=\"; hit\""), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("a; fwd=uri-miss; detail=\"PEER_node 7\""), ReportedOutcome::peer_hit);
    EXPECT_EQ(kind("a; fwd=uri-miss; key=\"\\\"; hit\""), ReportedOutcome::origin_fetch);
    EXPECT_EQ(kind("hit; fwd=uri-miss"), ReportedOutcome::origin_fetch);  // a node may be called so
}

TEST(ReportedOutcome, AdmitsNotToKnow) {
    EXPECT_EQ(reported_outcome({}), ReportedOutcome::unknown);
    EXPECT_EQ(kind(""), ReportedOutcome::unknown);
    EXPECT_EQ(kind("a"), ReportedOutcome::unknown);
    EXPECT_EQ(kind("a; ttl=3"), ReportedOutcome::unknown);
    EXPECT_EQ(by_x_cache("Error from cloud"), ReportedOutcome::unknown);
}

TEST(ReportedOutcome, TellsARefusalOfTheProxyFromAnAnswerOfTheOrigin) {
    const auto is_own = [](std::string_view member) {
        return is_from_proxy_itself(std::vector<proxy::Field>{{{}, "Cache-Status", member}});
    };
    EXPECT_TRUE(is_own("a; detail=not_allowed"));
    EXPECT_FALSE(is_own("a; fwd=uri-miss; detail=x")) << "the origin's";
    EXPECT_FALSE(is_own("a; hit; ttl=3"));
    EXPECT_FALSE(is_own("a; fwd=uri-miss; collapsed"));
    EXPECT_FALSE(is_from_proxy_itself({})) << "it does not say";
    const std::vector<proxy::Field> refused{{{}, "Cache-Status", "b; hit"},
                                            {{}, "Cache-Status", "a; detail=not_allowed"}};
    EXPECT_EQ(reported_detail(refused), "not_allowed");
    EXPECT_EQ(reported_detail({}), "");
}

TEST(ReportedOutcome, ReadsXCacheOfOtherProxies) {
    EXPECT_EQ(by_x_cache("HIT from squid1"), ReportedOutcome::local_hit);
    EXPECT_EQ(by_x_cache("MISS"), ReportedOutcome::origin_fetch);
    EXPECT_EQ(by_x_cache("MISS, HIT"), ReportedOutcome::local_hit);
    EXPECT_EQ(by_x_cache("HIT, MISS"), ReportedOutcome::origin_fetch);
    const std::vector<proxy::Field> both{{{}, "Cache-Status", "a; fwd=uri-miss"},
                                         {{}, "X-Cache", "HIT"}};
    EXPECT_EQ(reported_outcome(both), ReportedOutcome::origin_fetch);
}

}  // namespace reported_outcome_test
}  // namespace measure
