#include "proxy/upstream/upstream_group.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace proxy {
namespace upstream_group_test {

using namespace std::chrono_literals;
using End = UpstreamGroup::End;
using Change = UpstreamGroup::Change;

/// A group of servers `a`, `b`, `c`, which a test names by their marks.
class UpstreamGroupTest : public ::testing::Test {
protected:
    void use(Balance balance, std::vector<unsigned> weights, unsigned backups = 0) {
        terms.balance = balance;
        terms.servers.clear();
        for (std::size_t i = 0; i < weights.size(); ++i) {
            UpstreamServer server;
            server.place = {"s" + std::to_string(i), 80};
            server.mark = static_cast<std::uint32_t>(i + 1);
            server.weight = weights[i];
            server.backup = i + backups >= weights.size();
            terms.servers.push_back(std::move(server));
        }
        follow();
    }
    void follow() { group.follow(std::make_shared<const UpstreamGroupConfig>(terms)); }
    std::uint32_t first(std::uint64_t spread = 0, bool may_try = false) {
        return group.order(spread, may_try, now).servers.at(0) + 1u;
    }
    std::string order(std::uint64_t spread = 0, bool may_try = false) {
        std::string text;
        for (const auto i : group.order(spread, may_try, now).servers)
            text.push_back(static_cast<char>('a' + i));
        return text;
    }
    std::string turns(unsigned count) {
        std::string text;
        for (unsigned i = 0; i < count; ++i) text.push_back(static_cast<char>('a' + first() - 1));
        return text;
    }
    void fail(std::uint32_t mark, unsigned times = kServerFailures) {
        for (unsigned i = 0; i < times; ++i) last = group.ended(mark, End::unreachable, now, now);
    }

    UpstreamGroupConfig terms;
    UpstreamGroup group;
    UpstreamGroup::Time now{1000s};
    Change last = Change::none;
};

TEST_F(UpstreamGroupTest, TakesEqualServersInTurn) {
    use(Balance::round_robin, {1, 1, 1});
    EXPECT_EQ(turns(6), "abcabc");
}

TEST_F(UpstreamGroupTest, SpreadsTheTurnsOfAHeavyServer) {
    use(Balance::round_robin, {5, 1, 1});
    EXPECT_EQ(turns(7), "aabacaa") << "never five in a row";
}

TEST_F(UpstreamGroupTest, NamesEachOtherServerOnceForARetry) {
    use(Balance::round_robin, {1, 1, 1});
    auto all = order();
    std::ranges::sort(all);
    EXPECT_EQ(all, "abc");
}

TEST_F(UpstreamGroupTest, GivesTheLeastBusyServerForItsWeight) {
    use(Balance::least_in_flight, {1, 2});
    EXPECT_EQ(first(), 2u);
    group.began(2);
    EXPECT_EQ(first(), 1u) << "by turn, as both have one for their weight";
    group.began(1);
    EXPECT_EQ(first(), 2u);
    group.left(1);
    group.began(2);
    group.began(2);
    EXPECT_EQ(first(), 1u);
    group.left(7);  // is no server: nothing happens
}

TEST_F(UpstreamGroupTest, KeepsAKeyAtItsServer) {
    use(Balance::rendezvous, {1, 1, 1});
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(order(key), order(key));
}

TEST_F(UpstreamGroupTest, MovesOnlyTheKeysOfAServerThatIsLost) {
    use(Balance::rendezvous, {1, 1, 2});
    std::map<std::uint64_t, std::uint32_t> before;
    std::map<std::uint32_t, unsigned> share;
    for (std::uint64_t key = 0; key < 8000; ++key) ++share[before[key] = first(key)];
    EXPECT_NEAR(share[1], 2000, 200);
    EXPECT_NEAR(share[3], 4000, 200) << "by its weight";
    fail(1);
    for (const auto& [key, server] : before) {
        const auto moved = first(key);
        EXPECT_NE(moved, 1u);
        if (server != 1) {
            EXPECT_EQ(moved, server);
        }
    }
}

TEST_F(UpstreamGroupTest, TakesAServerOutAfterFailuresInARow) {
    use(Balance::round_robin, {1, 1});
    fail(1, kServerFailures - 1);
    EXPECT_TRUE(group.is_up(1));
    group.ended(1, End::answered, now, now);
    fail(1, kServerFailures - 1);
    EXPECT_TRUE(group.is_up(1)) << "an answer in between starts the count anew";
    fail(1, 1);
    EXPECT_EQ(last, Change::went_down);
    EXPECT_FALSE(group.is_up(1));
    EXPECT_EQ(turns(3), "bbb");
    EXPECT_EQ(order(), "b") << "a retry does not wait for it either";
}

TEST_F(UpstreamGroupTest, KeepsAServerWithOneSlowResource) {
    use(Balance::round_robin, {1, 1});
    const auto began = now;
    now += 10s;
    group.ended(1, End::answered, now - 1s, now);
    for (unsigned i = 0; i < 10; ++i) group.ended(1, End::unreachable, began, now);
    EXPECT_TRUE(group.is_up(1)) << "it has answered others meanwhile";
    fail(1);
    EXPECT_FALSE(group.is_up(1));
}

TEST_F(UpstreamGroupTest, KeepsAServerThatAnswersBadly) {
    use(Balance::round_robin, {1, 1});
    for (unsigned i = 0; i < 10; ++i)
        EXPECT_EQ(group.ended(1, End::failed, now, now), Change::none);
    EXPECT_TRUE(group.is_up(1));
    EXPECT_EQ(group.find(1)->failures, 10u);
}

TEST_F(UpstreamGroupTest, TriesAServerOnceAfterEachPause) {
    use(Balance::round_robin, {1, 1});
    fail(1);
    now += kServerPauseFirst;
    EXPECT_EQ(first(0, false), 2u) << "a request that cannot be repeated finds out nothing";
    const auto trial = group.order(0, true, now);
    EXPECT_TRUE(trial.trial);
    EXPECT_EQ(trial.servers, (std::vector<std::uint8_t>{0, 1}));
    EXPECT_EQ(first(0, true), 2u) << "the others go on";
    fail(1, 1);
    now += kServerPauseFirst;
    EXPECT_EQ(first(0, true), 2u) << "the pause has doubled";
    now += kServerPauseFirst;
    EXPECT_EQ(first(0, true), 1u);
    EXPECT_EQ(group.ended(1, End::answered, now, now), Change::came_back);
    EXPECT_TRUE(group.is_up(1));
}

TEST_F(UpstreamGroupTest, LimitsThePause) {
    use(Balance::round_robin, {1, 1});
    fail(1);
    for (unsigned i = 0; i < 10; ++i) {
        now += kServerPauseMax;
        EXPECT_EQ(first(0, true), 1u);
    }
}

TEST_F(UpstreamGroupTest, UsesABackupOnlyWhileAllOthersAreDown) {
    use(Balance::round_robin, {1, 1, 1}, 1);
    EXPECT_EQ(turns(4), "abab");
    EXPECT_EQ(order().back(), 'c') << "it is the last for a retry";
    fail(1);
    EXPECT_EQ(turns(2), "bb");
    fail(2);
    EXPECT_EQ(turns(2), "cc");
    group.ended(1, End::answered, now, now);
    EXPECT_EQ(first(), 1u);
}

TEST_F(UpstreamGroupTest, TriesAllTheSameIfAllAreDown) {
    use(Balance::round_robin, {1, 1});
    fail(1);
    fail(2);
    const auto all = group.order(0, false, now);
    EXPECT_TRUE(all.all_down);
    EXPECT_FALSE(all.trial);
    EXPECT_EQ(all.servers.size(), 2u);
}

TEST_F(UpstreamGroupTest, RaisesTheWeightOfARecoveredServerSlowly) {
    terms.slow_start = 100s;
    use(Balance::round_robin, {1, 1});
    EXPECT_EQ(turns(4), "abab") << "a start is no recovery";
    fail(1);
    group.ended(1, End::answered, now, now);
    EXPECT_EQ(group.state_of(*group.find(1), now), ServerState::slow_start);
    const auto share = [this] {
        const auto taken = turns(110);
        return std::ranges::count(taken, 'a');
    };
    EXPECT_EQ(share(), 10) << "a tenth of the other's";
    now += 50s;
    EXPECT_NEAR(static_cast<double>(share()), 110.0 / 3, 1);
    now += 50s;
    EXPECT_EQ(group.state_of(*group.find(1), now), ServerState::up);
    EXPECT_EQ(share(), 55);
}

TEST_F(UpstreamGroupTest, BelievesTheFirstCheckAndThenTwoInARow) {
    terms.health.path = "/up";
    use(Balance::round_robin, {1, 1});
    EXPECT_EQ(group.checked(1, false, now), Change::went_down);
    EXPECT_EQ(group.checked(2, true, now), Change::none);
    EXPECT_EQ(group.checked(1, true, now), Change::none);
    EXPECT_EQ(group.checked(1, false, now), Change::none);
    EXPECT_EQ(group.checked(1, true, now), Change::none) << "the count began anew";
    EXPECT_EQ(group.checked(1, true, now), Change::came_back);
    EXPECT_EQ(group.checked(2, false, now), Change::none);
    EXPECT_EQ(group.checked(2, false, now), Change::went_down);
}

TEST_F(UpstreamGroupTest, LeavesTheReturnOfACheckedServerToItsChecks) {
    terms.health.path = "/up";
    use(Balance::round_robin, {1, 1});
    group.checked(1, false, now);
    now += kServerPauseMax;
    EXPECT_EQ(first(0, true), 2u);
    EXPECT_EQ(group.ended(1, End::answered, now, now), Change::none);
    EXPECT_FALSE(group.is_up(1)) << "an answer to a request is no good check";
    terms.health.path.clear();
    follow();
    EXPECT_TRUE(group.is_up(1)) << "no check would put it back";
}

TEST_F(UpstreamGroupTest, EndsAPauseByGoodChecks) {
    terms.health.path = "/up";
    use(Balance::round_robin, {1, 1});
    group.checked(1, true, now);
    fail(1);
    EXPECT_FALSE(group.is_up(1));
    now += kServerPauseMax;
    EXPECT_FALSE(group.order(0, true, now).trial) << "no client has to wait for it";
    group.checked(1, true, now);
    EXPECT_EQ(group.checked(1, true, now), Change::came_back);
    EXPECT_TRUE(group.is_up(1));
}

TEST_F(UpstreamGroupTest, KeepsTheStateOfServersThatStay) {
    use(Balance::round_robin, {1, 1, 1});
    fail(2);
    group.began(3);
    terms.servers.erase(terms.servers.begin());
    follow();
    EXPECT_FALSE(group.is_up(2));
    EXPECT_EQ(group.find(3)->in_flight, 1u);
    EXPECT_EQ(turns(2), "bb") << "the third server, by its new place";
    fail(1);  // by requests from before
    use(Balance::round_robin, {1, 1, 1});
    EXPECT_FALSE(group.is_up(1)) << "a request under the former configuration finds it as it is";
    EXPECT_FALSE(group.is_up(2));
    EXPECT_EQ(group.find(3)->in_flight, 1u);
    EXPECT_EQ(group.find(9), nullptr);
    EXPECT_EQ(group.ended(9, End::answered, now, now), Change::none);
}

TEST_F(UpstreamGroupTest, TakesParentsInOrder) {
    use(Balance::in_order, {1, 1, 1});
    EXPECT_EQ(turns(3), "aaa");
    EXPECT_EQ(order(), "abc");
    fail(1);
    EXPECT_EQ(order(), "bc");
}

}  // namespace upstream_group_test
}  // namespace proxy
