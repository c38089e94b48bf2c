#include "proxy/access/accounts.hpp"

#include <gtest/gtest.h>

#include "proxy/access/client_network.hpp"
#include "proxy/access/client_share.hpp"

namespace proxy {
namespace accounts_test {

using namespace std::chrono_literals;
using Time = TokenBucket::Time;

constexpr Time kNow{1h};
const BucketRate kTenPerSecond{10, 10};

std::string key(int i) {
    return "client " + std::to_string(i);
}

TEST(Accounts, AreTheSameUnderOneKey) {
    Accounts accounts;
    const auto one = accounts.open("a", kNow);
    EXPECT_EQ(accounts.open("a", kNow), one);
    EXPECT_NE(accounts.open("b", kNow), one);
    EXPECT_EQ(accounts.size(), 2u);
}

TEST(Accounts, AreBoundedAndForgetTheEmptiestFirst) {
    Accounts accounts(8);
    accounts.open("heavy", kNow)->requests.take(kNow, kTenPerSecond, 10);
    for (int i = 0; i < 10'000; ++i)
        accounts.open(key(i), kNow)->requests.take(kNow, kTenPerSecond, 1);
    EXPECT_LE(accounts.size(), 8 * Accounts::kShards);
    const auto heavy = accounts.open("heavy", kNow);
    EXPECT_EQ(heavy->requests.state().full_at, kNow + 1s)
        << "ten thousand others do not make a client new";
}

TEST(Accounts, InUseAreNeverForgotten) {
    Accounts accounts(1);
    std::vector<AccountUse> uses;
    for (int i = 0; i < 100; ++i) uses.emplace_back(accounts.open(key(i), kNow));
    EXPECT_EQ(accounts.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(accounts.open(key(i), kNow)->in_progress, 1u) << i;
    uses.clear();
    for (int i = 100; i < 1000; ++i) accounts.open(key(i), kNow);
    EXPECT_LE(accounts.size(), Accounts::kShards);
}

TEST(ClientNetwork, IsAnAddressOrASlash64) {
    const auto network = [](const char* text) {
        return client_network(boost::asio::ip::make_address(text));
    };
    EXPECT_EQ(network("2001:db8::1"), network("2001:db8::ffff:1"));
    EXPECT_NE(network("2001:db8::1"), network("2001:db8:0:1::1"));
    EXPECT_NE(network("10.0.0.1"), network("10.0.0.2"));
    EXPECT_NE(network("0.0.0.0"), network("::"));
}

class Shares : public ::testing::Test {
protected:
    ClientShare::Entered enter(ClientShare& share, Time now = kNow) {
        return share.enter(accounts_.open("a", now), limits_, now);
    }
    Accounts accounts_;
    ClientAllowance limits_;
};

TEST_F(Shares, RefuseRequestsAboveTheRate) {
    limits_.requests = 2;
    for (int i = 0; i < 2; ++i) {
        ClientShare share;
        EXPECT_EQ(enter(share).over, OverLimit::none);
    }
    ClientShare share;
    const auto refused = enter(share);
    EXPECT_EQ(refused.over, OverLimit::rate);
    EXPECT_EQ(refused.again_at, kNow + 500ms);
    EXPECT_EQ(retry_after(refused.again_at, kNow), 1u);
    EXPECT_EQ(enter(share, kNow + 500ms).over, OverLimit::none);
}

TEST_F(Shares, CountRequestsInProgressUntilTheyEnd) {
    limits_.connections = 1;
    auto first = std::make_unique<ClientShare>();
    EXPECT_EQ(enter(*first).over, OverLimit::none);
    ClientShare second;
    EXPECT_EQ(enter(second).over, OverLimit::connections);
    EXPECT_EQ(accounts_.open("a", kNow)->in_progress, 1u) << "a refused one does not count";
    first.reset();
    EXPECT_EQ(enter(second).over, OverLimit::none);
}

TEST_F(Shares, CountInNoAccountOnceTheyHaveLeft) {
    limits_.connections = 1;
    limits_.bandwidth = 1000;
    ClientShare first, second;
    enter(first);
    first.sent(10'000, kNow);
    EXPECT_GT(first.ready_at(kNow), kNow);
    first.leave();
    EXPECT_EQ(accounts_.open("a", kNow)->in_progress, 0u);
    EXPECT_FALSE(first.has_bandwidth());
    EXPECT_LE(first.ready_at(kNow), kNow);
    EXPECT_EQ(enter(second).over, OverLimit::none);
}

TEST_F(Shares, TakeTheirBandwidthFromOneAccount) {
    limits_.bandwidth = 80'000;
    ClientShare one, other;
    enter(one);
    enter(other);
    EXPECT_TRUE(one.has_bandwidth());
    EXPECT_EQ(one.piece(), 5'000u) << "together an eighth of a second";
    one.sent(80'000, kNow);
    EXPECT_GT(other.ready_at(kNow), kNow);
    EXPECT_LE(other.ready_at(kNow), kNow + 1ms);
    other.sent(40'000, kNow);
    EXPECT_GE(one.ready_at(kNow), kNow + 500ms);
    EXPECT_LE(one.ready_at(kNow), kNow + 501ms);
    EXPECT_LE(one.ready_at(kNow + 501ms), kNow + 501ms);
}

TEST_F(Shares, KnowHowLongTheirTurnsTake) {
    limits_.bandwidth = 80'000;
    ClientShare one;
    enter(one);
    EXPECT_EQ(one.piece(), 10'000u);
    EXPECT_EQ(one.time_to_turn(kNow), 125ms);
    std::vector<ClientShare> others(159);
    for (auto& each : others) enter(each);
    EXPECT_EQ(one.piece(), 1024u) << "no smaller one";
    EXPECT_EQ(one.time_to_turn(kNow), 2048ms) << "1 KiB for each of 160";
    one.sent(400'000, kNow);
    EXPECT_GE(one.time_to_turn(kNow), 4s) << "others have taken more than there was";
    EXPECT_LE(one.time_to_turn(kNow), 4001ms);
}

TEST_F(Shares, WithoutABandwidthNeverWait) {
    limits_.requests = 1;
    ClientShare share;
    enter(share);
    share.sent(1ull << 40, kNow);
    EXPECT_FALSE(share.has_bandwidth());
    EXPECT_EQ(share.ready_at(kNow), kNow);
    EXPECT_EQ(share.piece(), std::numeric_limits<std::uint64_t>::max());
}

TEST(RetryAfter, IsInWholeSeconds) {
    EXPECT_EQ(retry_after(kNow - 5s, kNow), 1u);
    EXPECT_EQ(retry_after(kNow + 1ms, kNow), 1u);
    EXPECT_EQ(retry_after(kNow + 1001ms, kNow), 2u);
}

}  // namespace accounts_test
}  // namespace proxy
