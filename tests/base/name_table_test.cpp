#include "base/net/name_table.hpp"

#include <gtest/gtest.h>

namespace base::test {
namespace name_table_test {

using namespace std::chrono_literals;
using Kind = NameAnswer::Kind;
using Time = NameTable::Time;

const Time kNow = Time(1000s);

Addresses addresses(const char* text) {
    return {boost::asio::ip::make_address(text)};
}
NameAnswer found(const char* address, std::chrono::seconds ttl) {
    return {Kind::found, addresses(address), ttl};
}

class NameTableTest : public ::testing::Test {
protected:
    /// Looks `name` up: `answer` came at once.
    NameTable::KnownAddresses learn(const std::string& name, NameAnswer answer, Time now) {
        EXPECT_TRUE(table.ask(name, {}, now).look_up);
        return table.answered(name, std::move(answer), now);
    }
    /// The answer about "a" now, without a wait; nothing when there is one.
    std::string said(Time now) {
        const auto decision = table.ask("a", {}, now);
        if (decision.look_up) table.answered("a", {Kind::trouble, {}, 0s}, now);
        if (!decision.answer) return "wait";
        if (!*decision.answer) return decision.answer->error().message();
        return (*decision.answer)->front().to_string();
    }

    NameTable table;
};

TEST_F(NameTableTest, AnAnswerCountsAsLongAsItsTtlSays) {
    learn("a", found("10.0.0.1", 60s), kNow);
    EXPECT_EQ(said(kNow + 59s), "10.0.0.1");
    EXPECT_EQ(said(kNow + 60s), "wait");
}

TEST_F(NameTableTest, ATtlIsKeptWithinBounds) {
    learn("a", found("10.0.0.1", 0s), kNow);
    EXPECT_EQ(said(kNow + kLeastKept - 1ms), "10.0.0.1");
    EXPECT_EQ(said(kNow + kLeastKept), "wait");
    const auto later = kNow + 24h * 30;
    learn("a", found("10.0.0.2", 24h * 365), later);
    EXPECT_EQ(said(later + kMostKept - 1s), "10.0.0.2");
    EXPECT_EQ(said(later + kMostKept), "wait");
}

TEST_F(NameTableTest, AllWhoAskMeanwhileWaitForOneLookUp) {
    EXPECT_TRUE(table.ask("a", {}, kNow).look_up);
    const auto second = table.ask("a", {}, kNow);
    EXPECT_FALSE(second.look_up);
    EXPECT_FALSE(second.answer);
}

TEST_F(NameTableTest, ThatANameDoesNotExistIsKeptShortly) {
    EXPECT_EQ(learn("a", {Kind::no_such_name, {}, 0s}, kNow).error(), base::Error::resolve_failed);
    const auto decision = table.ask("a", {}, kNow + kNoSuchNameKept - 1ms);
    ASSERT_TRUE(decision.answer);
    EXPECT_EQ(decision.answer->error(), base::Error::resolve_failed);
    EXPECT_TRUE(table.ask("a", {}, kNow + kNoSuchNameKept).look_up);
}

TEST_F(NameTableTest, SilenceIsKeptShorter) {
    EXPECT_EQ(learn("a", {Kind::silence, {}, 0s}, kNow).error(), base::Error::resolve_timeout);
    EXPECT_FALSE(table.ask("a", {}, kNow + kTroubleKept - 1ms).look_up);
    EXPECT_TRUE(table.ask("a", {}, kNow + kTroubleKept).look_up);
}

TEST_F(NameTableTest, WhileTheServersAreSilentAnExpiredAnswerStandsIn) {  // RFC 8767 §5
    learn("a", found("10.0.0.1", 60s), kNow);
    auto now = kNow + 60s;
    // The first caller waits a moment for a fresh one...
    auto decision = table.ask("a", {}, now);
    EXPECT_TRUE(decision.look_up);
    EXPECT_FALSE(decision.answer);
    EXPECT_EQ(decision.stale, addresses("10.0.0.1"));
    EXPECT_EQ(table.answered("a", {Kind::silence, {}, 0s}, now).value(), addresses("10.0.0.1"));
    // ... the next does not, and nobody is asked for a while.
    decision = table.ask("a", {}, now + kStaleRetry - 1ms);
    EXPECT_FALSE(decision.look_up);
    ASSERT_TRUE(decision.answer);
    EXPECT_EQ(decision.answer->value(), addresses("10.0.0.1"));
    // Then one look-up tries again, and still nobody waits.
    now += kStaleRetry;
    decision = table.ask("a", {}, now);
    EXPECT_TRUE(decision.look_up);
    EXPECT_TRUE(decision.answer);
    decision = table.ask("a", {}, now);
    EXPECT_FALSE(decision.look_up);
    EXPECT_TRUE(decision.answer);
    table.answered("a", found("10.0.0.2", 60s), now);
    EXPECT_EQ(said(now), "10.0.0.2");
}

TEST_F(NameTableTest, AnExpiredAnswerIsNotServedForEver) {
    learn("a", found("10.0.0.1", 60s), kNow);
    const auto decision = table.ask("a", {}, kNow + 60s + kStaleKept);
    EXPECT_TRUE(decision.look_up);
    EXPECT_FALSE(decision.stale);
    EXPECT_EQ(table.answered("a", {Kind::silence, {}, 0s}, kNow + 60s + kStaleKept).error(),
              base::Error::resolve_timeout);
}

TEST_F(NameTableTest, ANameThatIsGoneIsGone) {  // RFC 8767 §4: this is an answer
    learn("a", found("10.0.0.1", 60s), kNow);
    EXPECT_EQ(learn("a", {Kind::no_such_name, {}, 0s}, kNow + 60s).error(),
              base::Error::resolve_failed);
    EXPECT_EQ(table.ask("a", {}, kNow + 61s).answer->error(), base::Error::resolve_failed);
}

TEST_F(NameTableTest, OneClientCannotTakeAllLookUps) {
    for (std::size_t i = 0; i < kMaxNamesInFlightPerClient; ++i)
        ASSERT_TRUE(table.ask("mine" + std::to_string(i), "10.0.0.1", kNow).look_up);
    EXPECT_EQ(table.ask("one more", "10.0.0.1", kNow).answer->error(), base::Error::resolver_busy);
    EXPECT_TRUE(table.ask("another's", "10.0.0.2", kNow).look_up);
    table.answered("mine0", {Kind::silence, {}, 0s}, kNow);
    EXPECT_TRUE(table.ask("one more", "10.0.0.1", kNow).look_up);
}

TEST_F(NameTableTest, AllClientsTogetherLeaveSomeToTheNodeItself) {
    for (std::size_t i = 0; i < kMaxClientNamesInFlight; ++i)
        ASSERT_TRUE(
            table.ask("n" + std::to_string(i), "10.0.0." + std::to_string(i % 100), kNow).look_up);
    EXPECT_EQ(table.ask("x", "10.0.1.1", kNow).answer->error(), base::Error::resolver_busy);
    for (std::size_t i = kMaxClientNamesInFlight; i < kMaxNamesInFlight; ++i)
        ASSERT_TRUE(table.ask("own" + std::to_string(i), {}, kNow).look_up);
    EXPECT_EQ(table.ask("y", {}, kNow).answer->error(), base::Error::resolver_busy);
}

TEST_F(NameTableTest, AnExpiredAnswerWillDoWhileNoLookUpIsFree) {
    learn("a", found("10.0.0.1", 60s), kNow);
    for (std::size_t i = 0; i < kMaxNamesInFlight; ++i)
        ASSERT_TRUE(table.ask("n" + std::to_string(i), {}, kNow).look_up);
    EXPECT_EQ(said(kNow + 60s), "10.0.0.1");
}

TEST_F(NameTableTest, TheNamesItKeepsAreLimitedAndTheNodesOwnStayLongest) {
    learn("a", found("10.0.0.1", 3600s), kNow);
    for (std::size_t i = 0; i < 2 * kMaxNamesKept; ++i) {
        const auto name = "n" + std::to_string(i);
        ASSERT_TRUE(table.ask(name, "10.0.0.9", kNow).look_up);
        table.answered(name, found("10.0.0.2", 3600s), kNow);
        ASSERT_LE(table.size(), kMaxNamesKept);
    }
    EXPECT_EQ(said(kNow), "10.0.0.1");
}

TEST(NameTable, CanBeMadeToAskEachTime) {
    NameTable table(0s);
    ASSERT_TRUE(table.ask("a", {}, kNow).look_up);
    table.answered("a", found("10.0.0.1", 60s), kNow);
    const auto decision = table.ask("a", {}, kNow);
    EXPECT_TRUE(decision.look_up);
    EXPECT_EQ(decision.stale, addresses("10.0.0.1"));
}

}  // namespace name_table_test
}  // namespace base::test
