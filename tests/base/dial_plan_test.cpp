#include "base/net/dial_plan.hpp"

#include <gtest/gtest.h>

namespace base::test {
namespace dial_plan_test {

using namespace std::chrono_literals;
using Step = DialPlan::Step;
using What = DialPlan::Step::What;
using Time = DialPlan::Time;

const Time kNow = Time(1000s);

Step start(std::size_t which) {
    return {What::start, which};
}

Endpoints addresses(std::initializer_list<const char*> texts) {
    Endpoints result;
    for (const auto* text : texts) result.emplace_back(boost::asio::ip::make_address(text), 80);
    return result;
}

TEST(DialPlan, OneAddressHasAllTheTime) {
    DialPlan plan(1, kNow, kNow + 5s);
    EXPECT_EQ(plan.next(kNow), start(0));
    EXPECT_EQ(plan.next(kNow + 4s), std::nullopt);
    EXPECT_EQ(plan.due(), Time::max());
    EXPECT_FALSE(plan.over());
    plan.failed(0);
    EXPECT_TRUE(plan.over());
}

TEST(DialPlan, TheNextAddressIsTriedBesideOneThatDoesNotAnswer) {  // RFC 8305 §5
    DialPlan plan(2, kNow, kNow + 5s);
    EXPECT_EQ(plan.next(kNow), start(0));
    EXPECT_EQ(plan.due(), kNow + kDialPace);
    EXPECT_EQ(plan.next(kNow + kDialPace - 1ms), std::nullopt);
    EXPECT_EQ(plan.next(kNow + kDialPace), start(1));
    plan.failed(1);
    EXPECT_FALSE(plan.over());  // the first is still under way
    plan.failed(0);
    EXPECT_TRUE(plan.over());
}

TEST(DialPlan, AFailureStartsTheNextAtOnce) {
    DialPlan plan(3, kNow, kNow + 5s);
    EXPECT_EQ(plan.next(kNow), start(0));
    plan.failed(0);
    EXPECT_EQ(plan.next(kNow + 1ms), start(1));
    EXPECT_EQ(plan.next(kNow + 2ms), std::nullopt);  // one at a time
}

TEST(DialPlan, LittleTimeIsSharedSoThatEachAddressGetsItsTurn) {
    DialPlan plan(4, kNow, kNow + 50ms);
    for (std::size_t i = 0; i < 4; ++i) {
        const auto at = kNow + static_cast<int>(i) * 10ms;
        EXPECT_EQ(plan.next(at), start(i));
        EXPECT_EQ(plan.next(at), std::nullopt);
    }
}

TEST(DialPlan, ADeadlineThatHasPassedDoesNoHarm) {
    DialPlan plan(2, kNow, kNow - 1s);
    EXPECT_EQ(plan.next(kNow), start(0));
    EXPECT_EQ(plan.due(), kNow + kLeastDialPace);
}

TEST(DialPlan, OpensFewSocketsAndTheOldestAttemptMakesRoom) {
    DialPlan plan(kMaxDialsAtOnce + 2, kNow, kNow + 60s);
    auto at = kNow;
    for (std::size_t i = 0; i < kMaxDialsAtOnce; ++i, at += kDialPace)
        ASSERT_EQ(plan.next(at), start(i));
    EXPECT_EQ(plan.next(at), std::nullopt);  // the oldest has not had its time
    at = kNow + kPacesPerDial * kDialPace;
    EXPECT_EQ(plan.due(), at);
    EXPECT_EQ(plan.next(at), (Step{What::give_up, 0}));
    EXPECT_EQ(plan.next(at), start(kMaxDialsAtOnce));
    EXPECT_EQ(plan.next(at), std::nullopt);
}

TEST(DialPlan, AnAttemptThatWasGivenUpCannotFailAnyMore) {
    DialPlan plan(kMaxDialsAtOnce + 2, kNow, kNow + 60s);
    auto at = kNow;
    for (std::size_t i = 0; i < kMaxDialsAtOnce; ++i, at += kDialPace) plan.next(at);
    at += kPacesPerDial * kDialPace;
    ASSERT_EQ(plan.next(at), (Step{What::give_up, 0}));
    ASSERT_EQ(plan.next(at), start(kMaxDialsAtOnce));
    plan.failed(0);
    EXPECT_EQ(plan.next(at), std::nullopt);
}

TEST(DialPlan, SixteenAddressesAllGetTheirTurnWithinFiveSeconds) {
    DialPlan plan(16, kNow, kNow + 5s);
    std::size_t started = 0;
    auto at = kNow;
    while (plan.due() != Time::max()) {
        at = std::max(at, plan.due());
        const auto step = plan.next(at);
        ASSERT_TRUE(step);
        started += step->what == What::start ? 1 : 0;
    }
    EXPECT_EQ(started, 16U);
    EXPECT_LT(at, kNow + 5s);
}

TEST(AddressMemory, TheFamiliesTakeTurns) {  // RFC 8305 §4
    const AddressMemory memory;
    EXPECT_EQ(memory.order("a", addresses({"::1", "::2", "::3", "10.0.0.1"}), kNow),
              addresses({"::1", "10.0.0.1", "::2", "::3"}));
    EXPECT_EQ(memory.order("a", addresses({"10.0.0.1", "10.0.0.2", "::1"}), kNow),
              addresses({"10.0.0.1", "::1", "10.0.0.2"}));
}

TEST(AddressMemory, TheLastConnectedAddressIsTriedFirst) {
    AddressMemory memory;
    const auto all = addresses({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
    memory.connected("a", all[1], kNow);
    EXPECT_EQ(memory.order("a", all, kNow), addresses({"10.0.0.2", "10.0.0.1", "10.0.0.3"}));
    memory.connected("a", all[2], kNow);
    EXPECT_EQ(memory.order("a", all, kNow), addresses({"10.0.0.3", "10.0.0.1", "10.0.0.2"}));
    EXPECT_EQ(memory.order("b", all, kNow), all);
}

TEST(AddressMemory, AFailedAddressIsTriedLastUntilItConnects) {
    AddressMemory memory;
    const auto all = addresses({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
    memory.connected("a", all[0], kNow);
    memory.failed("a", all[0], kNow);
    EXPECT_EQ(memory.order("a", all, kNow), addresses({"10.0.0.2", "10.0.0.3", "10.0.0.1"}));
    memory.connected("a", all[0], kNow);
    EXPECT_EQ(memory.order("a", all, kNow), all);
}

TEST(AddressMemory, AnAddressThatTheNameNoLongerHasDoesNotComeBack) {
    AddressMemory memory;
    memory.connected("a", addresses({"10.0.0.9"})[0], kNow);
    const auto all = addresses({"10.0.0.1", "10.0.0.2"});
    EXPECT_EQ(memory.order("a", all, kNow), all);
}

TEST(AddressMemory, ForgetsAfterAWhileHoweverOftenItIsUsed) {
    AddressMemory memory;
    const auto all = addresses({"10.0.0.1", "10.0.0.2"});
    memory.connected("a", all[1], kNow);
    memory.connected("a", all[1], kNow + AddressMemory::kKept - 1s);
    EXPECT_EQ(memory.order("a", all, kNow + AddressMemory::kKept - 1s).front(), all[1]);
    EXPECT_EQ(memory.order("a", all, kNow + AddressMemory::kKept), all);
}

TEST(AddressMemory, ThePlacesItRemembersAreLimited) {
    AddressMemory memory;
    const auto all = addresses({"10.0.0.1", "10.0.0.2"});
    memory.connected("first", all[1], kNow);
    for (std::size_t i = 1; i < AddressMemory::kMaxPlaces; ++i)
        memory.connected("place " + std::to_string(i), all[1], kNow);
    EXPECT_EQ(memory.order("first", all, kNow).front(), all[1]);
    memory.connected("one more", all[1], kNow);
    EXPECT_EQ(memory.order("first", all, kNow), all);
    EXPECT_EQ(memory.order("one more", all, kNow).front(), all[1]);
}

}  // namespace dial_plan_test
}  // namespace base::test
