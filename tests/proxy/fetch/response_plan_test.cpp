#include "proxy/fetch/response_plan.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace response_plan_test {

using namespace std::chrono_literals;
using test::Head;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20);

/// One request to a node with peers, whose target is stored, being fetched, both or neither.
class ResponsePlanTest : public ::testing::Test {
protected:
    void stored(const std::string& cache_control, std::chrono::seconds residence) {
        const auto head = "Cache-Control: " + cache_control;
        freshness_ = freshness_of(200, Head(head.c_str()), kNow, kNow, {});
        found.stored = &freshness_;
        found.residence = residence;
    }
    ResponsePlan plan(const std::string& cache_control = "", const std::string& range = "") const {
        const auto directives =
            request_directives(Head(("Cache-Control: " + cache_control).c_str()));
        auto request = RequestFacts{directives, parse_range(range)};
        request.has_peers = has_peers;
        request.peers_may_have = peers_may_have;
        request.is_head = is_head;
        request.fetches_for_head = fetches_for_head;
        request.if_range = if_range;
        request.conditions_for_origin = conditions_for_origin;
        request.authorization = authorization;
        request.may_use_blocks = may_use_blocks;
        const auto plan = plan_reuse(found, directives);
        return plan.serves() ? plan : plan_fetch(plan, found, request);
    }

    StoreFacts found;
    bool has_peers = true, peers_may_have = false, is_head = false, fetches_for_head = false,
         if_range = false, conditions_for_origin = false, authorization = false,
         may_use_blocks = true;

private:
    Freshness freshness_;
};

TEST(MayGive, JudgesWhatIsStoredByTheSettingsOfNow) {
    CacheConfig cache;
    SitePolicy policy{&cache, true};
    StoredMetadata plain, with_cookie, targeted;
    with_cookie.shares_cookie = true;
    targeted.freshness.targeted = true;
    EXPECT_TRUE(may_give(policy, plain));
    EXPECT_FALSE(may_give(policy, with_cookie));
    EXPECT_TRUE(may_give(policy, targeted));
    cache.rules.store_set_cookie = true;
    EXPECT_TRUE(may_give(policy, with_cookie));
    policy.acts_for_origin = false;  // the entry of `origins` is gone
    EXPECT_FALSE(may_give(policy, targeted));
}

TEST_F(ResponsePlanTest, ServesWhatIsFresh) {
    stored("max-age=60", 59s);
    EXPECT_EQ(plan().step, ResponseStep::serve);
    EXPECT_EQ(plan("only-if-cached").step, ResponseStep::serve);
    is_head = authorization = conditions_for_origin = true;  // judged on what is stored
    EXPECT_EQ(plan().step, ResponseStep::serve);
}

TEST_F(ResponsePlanTest, ServesStaleWhereTheClientTakesIt) {  // RFC 9111 §5.2.1.2
    stored("max-age=60", 61s);
    EXPECT_EQ(plan("max-stale=2").step, ResponseStep::serve);
    EXPECT_EQ(plan("max-stale=2").reuse, Reuse::stale_allowed);
    EXPECT_EQ(plan("max-stale=0").step, ResponseStep::fetch);
}

TEST_F(ResponsePlanTest, ServesStaleWhileItIsRenewed) {  // RFC 5861 §3
    stored("max-age=60, stale-while-revalidate=30", 90s);
    EXPECT_EQ(plan().step, ResponseStep::serve_and_renew);
    EXPECT_EQ(plan("no-cache").step, ResponseStep::fetch);
    stored("max-age=60, stale-while-revalidate=30", 91s);
    EXPECT_EQ(plan().step, ResponseStep::fetch);
}

TEST_F(ResponsePlanTest, FetchesWhatIsNotThere) {
    EXPECT_EQ(plan().step, ResponseStep::fetch);
    EXPECT_EQ(plan().forward, Forward::uri_miss);
    EXPECT_TRUE(plan().may_ask_peers);
    EXPECT_TRUE(plan().collapse);
    found.other_variants = true;
    EXPECT_EQ(plan().forward, Forward::vary_miss);
    has_peers = false;
    EXPECT_FALSE(plan().may_ask_peers);
}

TEST_F(ResponsePlanTest, ValidatesWhatIsStaleAndSaysWhy) {  // RFC 9211 §2.2
    stored("max-age=60", 61s);
    EXPECT_EQ(plan().step, ResponseStep::fetch);
    EXPECT_EQ(plan().forward, Forward::stale);
    stored("max-age=60", 1s);
    EXPECT_EQ(plan("no-cache").forward, Forward::request);
}

TEST_F(ResponsePlanTest, AsksNoPeerWhereTheClientWantsTheOriginsWord) {  // RFC 9111 §5.2.1.4
    EXPECT_FALSE(plan("no-cache").may_ask_peers);
    EXPECT_FALSE(plan("max-age=0").may_ask_peers);
    EXPECT_TRUE(plan("max-age=1").may_ask_peers);
}

TEST_F(ResponsePlanTest, RefusesToFetchForOnlyIfCached) {  // RFC 9111 §5.2.1.7
    EXPECT_EQ(plan("only-if-cached").step, ResponseStep::refuse);
    stored("max-age=60", 61s);
    EXPECT_EQ(plan("only-if-cached").step, ResponseStep::refuse);
    is_head = true;
    EXPECT_EQ(plan("only-if-cached").step, ResponseStep::refuse);
}

TEST_F(ResponsePlanTest, FillsTheStoreByAHeadWhereARuleSaysSo) {
    is_head = true;
    fetches_for_head = true;
    EXPECT_EQ(plan().step, ResponseStep::fetch);
    const auto with_range = plan("", "bytes=0-9");  // which a HEAD does not have (RFC 9110 §14.2)
    EXPECT_EQ(with_range.step, ResponseStep::fetch);
    EXPECT_FALSE(with_range.in_part);
    stored("max-age=60", 61s);
    EXPECT_EQ(plan().step, ResponseStep::fetch) << "a validation";
    conditions_for_origin = true;
    EXPECT_EQ(plan().step, ResponseStep::relay);
}

TEST_F(ResponsePlanTest, RelaysAHeadWhoseResponseIsForOneClient) {
    is_head = true;
    fetches_for_head = true;
    found.unshareable = true;
    EXPECT_EQ(plan().step, ResponseStep::relay) << "a GET would bring a body for nothing";
}

TEST_F(ResponsePlanTest, RelaysWhatTheStoreCannotBeFilledBy) {
    is_head = true;
    EXPECT_EQ(plan().step, ResponseStep::relay);
    is_head = false;
    conditions_for_origin = true;  // RFC 9110 §13.1.1, §13.1.4
    EXPECT_EQ(plan().step, ResponseStep::relay);
    stored("max-age=60", 61s);
    EXPECT_EQ(plan().step, ResponseStep::relay);
}

TEST_F(ResponsePlanTest, FetchesBlocksForASingleRangeOfWhatIsNotThere) {
    for (const auto* range : {"bytes=5-9", "bytes=5-"}) {
        EXPECT_EQ(plan("", range).step, ResponseStep::fetch) << range;
        EXPECT_TRUE(plan("", range).in_part) << range;
        EXPECT_FALSE(plan("", range).of_version) << range;
    }
    if_range = true;
    EXPECT_TRUE(plan("", "bytes=5-9").of_version);
    may_use_blocks = false;  // then in one piece
    EXPECT_EQ(plan("", "bytes=5-9").step, ResponseStep::fetch);
    EXPECT_FALSE(plan("", "bytes=5-9").in_part);
    EXPECT_FALSE(plan("", "bytes=5-9").of_version);
}

TEST_F(ResponsePlanTest, FetchesWholeForARangeOfWhatIsStale) {
    stored("max-age=60", 61s);
    EXPECT_EQ(plan("", "bytes=5-9").step, ResponseStep::fetch);
    EXPECT_FALSE(plan("", "bytes=5-9").in_part);
    EXPECT_EQ(plan("", "bytes=-9").step, ResponseStep::fetch);
    EXPECT_EQ(plan("", "bytes=0-1,5-9").step, ResponseStep::fetch);
}

TEST_F(ResponsePlanTest, FetchesWholeForARangeOfAllBytes) {
    EXPECT_EQ(plan("", "bytes=0-").step, ResponseStep::fetch);
    EXPECT_FALSE(plan("", "bytes=0-").in_part);
    EXPECT_TRUE(plan("", "bytes=1-").in_part);
    if_range = true;  // the whole of any version is the answer
    EXPECT_FALSE(plan("", "bytes=0-").of_version);
    found.unshareable = true;
    EXPECT_EQ(plan("", "bytes=0-").step, ResponseStep::relay);
}

TEST_F(ResponsePlanTest, MayFillBehindARequestForTheEndOfAnUnknownBody) {
    EXPECT_TRUE(plan("", "bytes=-9").may_fill_behind);
    EXPECT_FALSE(plan("", "bytes=0-1,5-9").may_fill_behind);
    found.unshareable = true;
    EXPECT_FALSE(plan("", "bytes=-9").may_fill_behind);
    found.unshareable = false;
    authorization = true;
    EXPECT_FALSE(plan("", "bytes=-9").may_fill_behind);
    authorization = false;
    found.has_fill = true;
    EXPECT_EQ(plan("", "bytes=-9").step, ResponseStep::fetch) << "which knows where it begins";
}

TEST_F(ResponsePlanTest, RelaysRangesThatCannotBeAPartOfWhatIsStored) {
    EXPECT_EQ(plan("", "bytes=0-1,5-9").step, ResponseStep::relay);
    EXPECT_EQ(plan("", "bytes=-9").step, ResponseStep::relay);
    found.unshareable = true;
    EXPECT_EQ(plan("", "bytes=5-9").step, ResponseStep::relay);
}

TEST_F(ResponsePlanTest, FetchesTheEndOfWhatAPeerHolds) {
    peers_may_have = true;
    EXPECT_EQ(plan("", "bytes=-9").step, ResponseStep::fetch);
    EXPECT_TRUE(plan("", "bytes=-9").in_part);
    EXPECT_EQ(plan("no-cache", "bytes=-9").step, ResponseStep::relay);
    may_use_blocks = false;
    EXPECT_EQ(plan("", "bytes=-9").step, ResponseStep::relay);
}

TEST_F(ResponsePlanTest, LetsRequestsForTheSameWaitForOneFetch) {
    EXPECT_TRUE(plan().collapse);
    found.has_fill = true;
    EXPECT_TRUE(plan().collapse);
    authorization = true;
    EXPECT_FALSE(plan().collapse);
    authorization = false;
    found.unshareable = true;  // hit-for-miss
    EXPECT_FALSE(plan().collapse);
    found.unshareable = false;
    stored("max-age=60", 1s);
    EXPECT_FALSE(plan("no-cache").collapse) << "what is under way began before it was asked for";
    found.has_fill = false;
    EXPECT_TRUE(plan("no-cache").collapse);
    found.stored = nullptr;
    EXPECT_TRUE(plan("no-cache").collapse);
    found.has_fill = true;
    EXPECT_FALSE(plan("no-cache").collapse);
    EXPECT_FALSE(plan("max-age=0").collapse);
    EXPECT_TRUE(plan("max-age=1").collapse);
}

TEST_F(ResponsePlanTest, LetsNobodyWaitForWhatEachHasToValidate) {
    for (const auto* said : {"no-cache, max-age=60", "no-cache", "max-age=0", "s-maxage=0"}) {
        stored(said, 61s);
        EXPECT_EQ(plan().step, ResponseStep::fetch) << said;
        EXPECT_FALSE(plan().collapse) << said;
    }
    stored("max-age=1, must-revalidate", 61s);
    EXPECT_TRUE(plan().collapse);
}

FollowerWait seen(bool leads, FetchError error = FetchError::none) {
    FollowerWait seen;
    seen.leads = leads;
    seen.has_head = error == FetchError::none;
    seen.error = error;
    return seen;
}

TEST(AfterTheWait, TheFetchedResponseIsTheAnswer) {
    EXPECT_EQ(plan_after_wait(seen(true)), FollowerStep::respond);
    EXPECT_EQ(plan_after_wait(seen(false)), FollowerStep::respond);
}

TEST(AfterTheWait, TheResponseOfAnotherFetchIsReusedAsFromTheStore) {  // RFC 9111 §4
    auto theirs = seen(false), own = seen(true);
    theirs.usable = own.usable = false;
    EXPECT_EQ(plan_after_wait(theirs), FollowerStep::alone);
    EXPECT_EQ(plan_after_wait(own), FollowerStep::respond);
}

TEST(AfterTheWait, AResponseForOthersLeadsBackToRequestsForTheSame) {
    auto another = seen(false), own = seen(true);
    another.is_variant = another.usable = own.is_variant = false;
    EXPECT_EQ(plan_after_wait(another), FollowerStep::look_again);
    EXPECT_EQ(plan_after_wait(own), FollowerStep::respond);
    auto for_one = seen(false);
    for_one.released = for_one.unshareable = true;
    EXPECT_EQ(plan_after_wait(for_one), FollowerStep::look_again);
}

TEST(AfterTheWait, AResponseForItsOwnRequestAloneIsFetchedAgain) {
    auto released = seen(false);
    released.released = true;
    EXPECT_EQ(plan_after_wait(released), FollowerStep::alone);
    released.has_head = false;
    EXPECT_EQ(plan_after_wait(released), FollowerStep::alone);
    for (const auto leads : {true, false})
        EXPECT_EQ(plan_after_wait(seen(leads, FetchError::not_in_parts)), FollowerStep::alone);
}

TEST(AfterTheWait, AFetchThatWasGivenUpInThatMomentLeadsToAnotherLook) {
    EXPECT_EQ(plan_after_wait(seen(false, FetchError::abandoned)), FollowerStep::look_again);
    EXPECT_EQ(plan_after_wait(seen(true, FetchError::abandoned)), FollowerStep::failure);
}

TEST(AfterTheWait, ARequestWithoutAStandInAsksWhereAnotherSparedItself) {
    auto spared = seen(false, FetchError::origin_down);
    EXPECT_EQ(plan_after_wait(spared), FollowerStep::alone);
    spared.stands_in = true;
    EXPECT_EQ(plan_after_wait(spared), FollowerStep::failure);
    EXPECT_EQ(plan_after_wait(seen(true, FetchError::origin_down)), FollowerStep::failure);
}

TEST(AfterTheWait, OneAnswerThatMeansNothingIsNoAnswerForAll) {
    for (const auto error : {FetchError::reset, FetchError::malformed}) {
        auto theirs = seen(false, error);
        EXPECT_EQ(plan_after_wait(theirs), FollowerStep::look_again);
        theirs.again = true;
        EXPECT_EQ(plan_after_wait(theirs), FollowerStep::failure);
        theirs.again = false;
        theirs.stands_in = true;
        EXPECT_EQ(plan_after_wait(theirs), FollowerStep::failure) << "the stored one is given";
        EXPECT_EQ(plan_after_wait(seen(true, error)), FollowerStep::failure);
    }
}

TEST(AfterTheWait, AMissingOrBrokenResponseIsNoAnswer) {  // RFC 9110 §15.6.3
    for (const auto leads : {true, false}) {
        EXPECT_EQ(plan_after_wait(seen(leads, FetchError::head_timeout)), FollowerStep::failure);
        auto late = seen(leads);
        late.has_head = false;
        EXPECT_EQ(plan_after_wait(late), FollowerStep::failure);
    }
}

}  // namespace response_plan_test
}  // namespace proxy
