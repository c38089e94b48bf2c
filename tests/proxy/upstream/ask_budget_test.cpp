#include "proxy/upstream/ask_budget.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/origin_times.hpp"

namespace proxy {
namespace ask_budget_test {

using namespace std::chrono_literals;
using Duration = RoundTrip::Duration;

const AskState::Time kNow = AskState::Time(1000h);

RoundTrip steady(Duration time) {
    RoundTrip result;
    for (int i = 0; i < 100; ++i) result.measured(time);
    return result;
}

RoundTrip unknown() {
    return {};
}

TEST(RoundTrip, IsNotKnownBeforeItWasMeasured) {
    EXPECT_FALSE(RoundTrip().known());
    EXPECT_TRUE(steady(1ms).known());
}

TEST(RoundTrip, BeginsAndGoesOnAsTheStandardSays) {  // RFC 6298 §2.2, §2.3
    RoundTrip time;
    time.measured(80ms);
    EXPECT_EQ(time.mean(), 80ms);
    EXPECT_EQ(time.deviation(), 40ms);
    time.measured(96ms);
    EXPECT_EQ(time.deviation(), 34ms);  // 3/4 of 40 + 1/4 of |80 - 96|
    EXPECT_EQ(time.mean(), 82ms);       // 7/8 of 80 + 1/8 of 96
}

TEST(RoundTrip, ForgetsThePastWhenAnswersBecomeFaster) {
    auto time = steady(150ms);
    for (int i = 0; i < 50; ++i) time.measured(10ms);
    EXPECT_LT(time.mean(), 11ms);
    EXPECT_LT(time.deviation(), 2ms);
}

TEST(RoundTrip, TakesNoNoticeOfWhatWasProbablySentTwice) {  // RFC 6298 §3
    auto time = steady(20ms);
    for (int i = 0; i < 20; ++i) {
        time.measured(240ms);
        time.measured(260ms);
        time.measured(20ms);
    }
    EXPECT_EQ(time.mean(), 20ms);
}

TEST(RoundTrip, LearnsThatTheWayHasBecomeLonger) {
    auto time = steady(20ms);
    for (int i = 0; i < 40; ++i) time.measured(150ms);
    EXPECT_GT(time.mean(), 140ms);
    EXPECT_LE(time.mean(), 150ms);
}

TEST(RoundTrip, FollowsSmallChangesAtOnce) {
    auto time = steady(1ms);
    time.measured(9ms);  // a machine that had something else to do
    EXPECT_EQ(time.mean(), 2ms);
}

TEST(RoundTrip, IsWellKnownAfterSomeMeasurements) {
    RoundTrip time;
    for (unsigned i = 1; i < RoundTrip::kWellKnownAfter; ++i) time.measured(1ms);
    EXPECT_FALSE(time.well_known());
    time.measured(1ms);
    EXPECT_TRUE(time.well_known());
}

TEST(RoundTrip, KnowsTheLeastOfTheLastMeasurements) {
    RoundTrip time;
    time.measured(30ms);
    EXPECT_EQ(time.least(), 30ms);
    time.measured(1ms);
    EXPECT_EQ(time.least(), 1ms);
    for (unsigned i = 0; i < RoundTrip::kLeastOf; ++i) time.measured(40ms);
    EXPECT_EQ(time.least(), 1ms);
    for (unsigned i = 0; i < RoundTrip::kLeastOf; ++i) time.measured(40ms);
    EXPECT_EQ(time.least(), 40ms);
}

TEST(OriginTimes, KnowEachOriginByItself) {
    OriginTimes times;
    times.measured("near:80", 2ms);
    times.measured("far:80", 200ms);
    EXPECT_EQ(times.of("near:80").mean(), 2ms);
    EXPECT_EQ(times.of("far:80").mean(), 200ms);
    EXPECT_FALSE(times.of("other:80").known());
    EXPECT_EQ(times.origins().front().first, "far:80");
}

TEST(OriginTimes, ForgetTheOneAskedLeastRecentlyWhenThereAreTooMany) {
    OriginTimes times;
    for (std::size_t i = 0; i < kMaxOriginsTimed; ++i) times.measured(std::to_string(i), 1ms);
    times.measured("0", 1ms);
    times.measured("one more", 1ms);
    EXPECT_EQ(times.origins().size(), kMaxOriginsTimed);
    EXPECT_TRUE(times.of("0").known());
    EXPECT_FALSE(times.of("1").known());
    EXPECT_TRUE(times.of("one more").known());
}

TEST(AskBudget, IsTheFixedOneWhileTheOriginIsNotKnown) {
    EXPECT_EQ(peer_budget(unknown(), unknown(), {}), 50ms);
    EXPECT_EQ(peer_budget(steady(1ms), unknown(), {}), 50ms);
    EXPECT_TRUE(is_worth_asking(steady(10s), unknown(), {}));
}

TEST(AskBudget, IsHalfOfWhatTheOriginTakes) {
    EXPECT_EQ(peer_budget(steady(20ms), steady(80ms), {}), 40ms);
    EXPECT_EQ(peer_budget(unknown(), steady(80ms), {}), 40ms);
}

TEST(AskBudget, StaysWithinItsBounds) {
    PeerTimes bounds;
    bounds.budget_least = 30ms;
    bounds.budget_most = 300ms;
    EXPECT_EQ(peer_budget(steady(1ms), steady(1ms), bounds), 30ms);
    EXPECT_EQ(peer_budget(steady(1ms), steady(10s), bounds), 300ms);
}

TEST(AskBudget, LetsAPeerWorthAskingAnswer) {  // else its answer always came too late
    const auto peer = steady(60ms);
    const auto origin = steady(80ms);
    ASSERT_TRUE(is_worth_asking(peer, origin, {}));
    EXPECT_GT(peer_budget(peer, origin, {}), 60ms);
    RoundTrip erratic;
    erratic.measured(100ms);
    EXPECT_EQ(peer_budget(erratic, origin, {}), peer_limit(origin, {}));
}

TEST(AskBudget, NearPeersAreAskedWhateverTheOriginTakes) {
    for (const auto origin : {Duration(100us), Duration(5ms), Duration(2s)})
        EXPECT_TRUE(is_worth_asking(steady(5ms), steady(origin), {})) << origin.count();
}

TEST(AskBudget, PeersWithMuchToDoAreNotFar) {
    RoundTrip busy;
    for (int i = 0; i < 40; ++i) busy.measured(i % 8 == 0 ? 1ms : 60ms);
    ASSERT_GT(busy.mean(), 30ms);
    EXPECT_TRUE(is_worth_asking(busy, steady(1ms), {}));
}

TEST(AskBudget, FarPeersOfNearOriginsAreLeftAlone) {
    EXPECT_FALSE(is_worth_asking(steady(150ms), steady(20ms), {}));
    EXPECT_FALSE(is_worth_asking(steady(20ms), steady(2ms), {}));
    EXPECT_TRUE(is_worth_asking(unknown(), steady(2ms), {}));  // how far it is shows by asking
}

TEST(AskBudget, ThePriceOfSparingTheOriginIsASetting) {
    PeerTimes bounds;
    bounds.detour = 130ms;
    EXPECT_TRUE(is_worth_asking(steady(150ms), steady(20ms), bounds));
    bounds.detour = 129ms;
    EXPECT_FALSE(is_worth_asking(steady(150ms), steady(20ms), bounds));
}

TEST(AskBudget, ARequestIsRepeatedWhenItsResponseIsUnusuallyLate) {
    EXPECT_EQ(patience_with(unknown()), Duration::max());
    EXPECT_EQ(patience_with(steady(5ms)), kRepeatAfter);
    RoundTrip peer;
    peer.measured(40ms);
    EXPECT_EQ(patience_with(peer), Duration::max());  // one answer alone tells little
    for (int i = 0; i < 50; ++i) peer.measured(i % 2 == 0 ? 30ms : 50ms);
    EXPECT_EQ(patience_with(peer), peer.mean() + 3 * peer.deviation());
    EXPECT_GT(patience_with(peer), 60ms);
}

TEST(AskBudget, ANearPeerThatIsLateIsNotAskedAgain) {  // it has enough to do as it is
    auto peer = steady(1ms);
    for (int i = 0; i < 10; ++i) peer.measured(100ms);
    EXPECT_EQ(patience_with(peer), Duration::max());
}

AskState asking(unsigned open, unsigned left) {
    AskState state{};
    state.origin_at = kNow + 40ms;
    state.next_at = kNow + 30ms;
    state.open = open;
    state.left = left;
    return state;
}

TEST(NextStep, AsksOnePeerAndWaits) {
    EXPECT_EQ(next_step(asking(0, 2), kNow).step, AskStep::ask_peer);
    const auto next = next_step(asking(1, 1), kNow);
    EXPECT_EQ(next.step, AskStep::wait);
    EXPECT_EQ(next.at, kNow + 30ms);
}

TEST(NextStep, AsksTheNextOneWhenTheFirstIsUnusuallyLate) {
    EXPECT_EQ(next_step(asking(1, 1), kNow + 30ms).step, AskStep::ask_peer);
    const auto nobody_left = next_step(asking(2, 0), kNow + 30ms);
    EXPECT_EQ(nobody_left.step, AskStep::wait);
    EXPECT_EQ(nobody_left.at, kNow + 40ms);
}

TEST(NextStep, AsksTheNextOneAtOnceWhenTheFirstHasNothing) {
    EXPECT_EQ(next_step(asking(0, 1), kNow + 5ms).step, AskStep::ask_peer);
    EXPECT_EQ(next_step(asking(0, 0), kNow + 5ms).step, AskStep::no_peers);
}

TEST(NextStep, AsksTheOriginBesideThePeersWhenTheBudgetHasPassed) {
    EXPECT_EQ(next_step(asking(1, 1), kNow + 40ms).step, AskStep::ask_origin);
    auto state = asking(1, 1);
    state.origin_asked = true;
    EXPECT_EQ(next_step(state, kNow + 40ms).step, AskStep::wait);
    EXPECT_EQ(next_step(state, kNow + 40ms).at, AskState::Time::max());
}

TEST(NextStep, WaitsForTheOriginWhenThePeersHaveNothingAfterAll) {
    auto state = asking(0, 1);
    state.origin_asked = true;
    EXPECT_EQ(next_step(state, kNow + 50ms).step, AskStep::wait);
}

TEST(NextStep, WaitsForThePeersWhenTheOriginFails) {
    auto state = asking(1, 0);
    state.origin_asked = state.origin_ended = true;
    EXPECT_EQ(next_step(state, kNow + 50ms).step, AskStep::wait);
    state.open = 0;
    EXPECT_EQ(next_step(state, kNow + 50ms).step, AskStep::no_peers);
}

}  // namespace ask_budget_test
}  // namespace proxy
