// The log under many invalidations: its entries for peers that are away, slow or new, against a
// history that forgets nothing.

#include "protocol/publishing/invalidation_log.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <tuple>

#include "protocol/wire/codec.hpp"
#include "tests/summary/keys.hpp"

namespace protocol::test {
namespace invalidation_history_test {

using summary::KeyHash;
using summary::test::key;
using summary::test::keys;
using summary::test::Random;

/// Sends all there is and returns how many hashes that were; none of it is an InvalidateAll.
std::size_t drain(InvalidationLog& log, std::size_t peer) {
    std::size_t count = 0;
    while (const auto message = log.next(peer, true)) {
        const auto* order = std::get_if<Invalidate>(&*message);
        if (!order) {
            ADD_FAILURE() << "ordered to drop everything";
            return count;
        }
        count += order->keys.size() + order->tags.size();
    }
    return count;
}

TEST(InvalidationLog, KeepsFewOfAKeyThatIsInvalidatedManyTimesWhileAPeerIsAway) {
    InvalidationLog log(2, 10'000);
    for (int i = 0; i < 100'000; ++i) {
        const auto last = log.add({keys(1, 1), {}});
        log.next(0, true);
        ASSERT_TRUE(log.confirm(0, last));
        ASSERT_LE(log.size(), 20U);
        ASSERT_LE(log.in_memory(), 128U);
    }
    EXPECT_LE(drain(log, 1), 20U);
    EXPECT_TRUE(log.confirm(1, 100'000));
    EXPECT_EQ(log.in_memory(), 0U);
}

// Each is invalidated again before it is confirmed.
TEST(InvalidationLog, KeepsFewForAPeerThatIsAwayWhenAnotherConfirmsLate) {
    constexpr std::uint64_t kLate = 100;
    InvalidationLog log(2, 10'000);
    for (std::uint64_t i = 1; i <= 100'000; ++i) {
        log.add({keys(1, 1), {}});
        log.next(0, true);
        if (i > kLate) {
            ASSERT_TRUE(log.confirm(0, i - kLate));
        }
        ASSERT_LE(log.size(), 3 * kLate);
    }
    EXPECT_LE(drain(log, 1), 3 * kLate);
}

TEST(InvalidationLog, KeepsFewForTwoPeersThatLeftAtDifferentTimes) {
    InvalidationLog log(3, 10'000);
    for (int i = 0; i < 100'000; ++i) {
        const auto last = log.add({keys(i % 10, 1), keys(i % 7, 1)});
        log.next(0, true);
        ASSERT_TRUE(log.confirm(0, last));
        for (const auto& [peer, until] : {std::pair{1U, 30'000}, std::pair{2U, 60'000}}) {
            if (i >= until) continue;
            log.next(peer, true);  // its last five confirmations are lost
            if (i < until - 5) {
                ASSERT_TRUE(log.confirm(peer, last));
            }
        }
        ASSERT_LE(log.in_memory(), 2 * log.size() + 64);
        ASSERT_LE(log.size(), 6U * 17);
    }
    for (const std::size_t away : {1, 2}) {
        log.connected(away, {});
        EXPECT_LE(drain(log, away), 6U * 17);
        EXPECT_TRUE(log.confirm(away, log.last()));
    }
    EXPECT_EQ(log.in_memory(), 0U);
}

// A message of an earlier connection may be confirmed before this one has sent it again.
TEST(InvalidationLog, DoesNotRelyOnSendingAgainWhatMayBeConfirmedWithout) {
    InvalidationLog log(1, 10'000);
    log.add({keys(1, 1), {}});
    log.next(0, true);
    log.connected(0, {});
    log.add({keys(1, 1), {}});
    log.add({keys(100, kMaxInvalidatedAtOnce), {}});
    log.add({keys(1, 1), {}});
    for (int i = 0; i < 10; ++i) log.add({keys(50, 100), {}});  // and all is looked at
    EXPECT_TRUE(log.confirm(0, 1));
    const auto order = std::get<Invalidate>(*log.next(0, true));
    EXPECT_EQ(order.keys.front(), key(1)) << "confirming this frame speaks of 2 too";
}

TEST(InvalidationLog, ForgetsManyInPartsAndGoesOnMeanwhile) {
    constexpr std::size_t kMany = 50'000;
    InvalidationLog log(1, 4 * kMany);
    log.add({keys(1, kMany), {}});
    EXPECT_EQ(drain(log, 0), kMany);
    EXPECT_TRUE(log.confirm(0, kMany));
    EXPECT_GT(log.size(), 0U);
    EXPECT_EQ(log.pending(0), 0U);
    EXPECT_EQ(log.next(0, true), std::nullopt);
    log.add({keys(3, 1), {}});
    EXPECT_EQ(log.next(0, true), Message(Invalidate{kMany + 1, keys(3, 1), {}}));
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(log.confirm(0, kMany + 1));
    EXPECT_EQ(log.in_memory(), 0U);
}

TEST(InvalidationLog, TakesOverWhatIsKeptAndWhatIsKnownOfIt) {
    InvalidationLog earlier(2, 1000), log(2, 1000);
    for (int i = 0; i < 500; ++i) earlier.add({keys(1, 2), {}});
    earlier.next(0, true);
    log.take_over(earlier);
    EXPECT_EQ(earlier.last(), 1000U);
    EXPECT_EQ(earlier.size(), 0U);
    EXPECT_TRUE(log.confirm(0, 1000));
    for (int i = 0; i < 500; ++i) log.add({keys(1, 2), {}});
    EXPECT_LE(log.size(), 20U);
    EXPECT_LE(drain(log, 1), 20U);
    EXPECT_EQ(log.last(), 2000U);
}

/// A peer as SyncSession makes it: messages for it go through a queue, and are lost with that.
struct Listener {
    using Name = std::tuple<std::uint64_t, std::uint64_t, bool>;
    struct Order {
        std::uint64_t last = 0, made = 0;  // numbers; the last one when it was made
        bool is_all = false;
        std::vector<Name> names;
    };
    std::deque<Order> queue;
    std::uint64_t applied = 0;       // by this instance
    std::uint64_t highest_sent = 0;  // to this instance
    std::uint64_t confirmed = 0;     // the highest ever confirmed
    std::uint64_t joined = 0;        // it is to confirm what was made after this
    std::uint64_t starts_after = 0;  // this instance is to hear of what was made after this
    std::map<Name, std::uint64_t> heard, heard_by_run;  // of what was made until then
    std::uint64_t all = 0, all_by_run = 0;
    std::uint32_t instance = 0;
    bool is_there = true;

    void apply(const Order& order) {
        if (order.last <= applied) return;
        applied = order.last;
        if (order.is_all) all = all_by_run = order.made;
        for (const auto& name : order.names) heard[name] = heard_by_run[name] = order.made;
    }
};

class History {
public:
    History(std::uint64_t seed, std::size_t limit)
        : random_(seed), limit_(limit), log_(kPeers, limit), names_(1) {
        for (std::size_t peer = 0; peer < kPeers; ++peer) log_.connected(peer, run_of(peer));
        constexpr std::uint64_t kDifferent[] = {4, 60, 900, 6000};
        different_ = kDifferent[seed % 4];
    }

    void step() {
        const auto peer = random_() % kPeers;
        auto& of = peers_[peer];
        const auto dice = random_() % 100;
        if (dice < 40) return add();
        if (!of.is_there) return dice < 43 ? join(peer) : void();
        if (away_ >> peer & 1) {
            if (dice < 45) reconnect(peer, dice < 42);
            if (dice == 99) leave(peer);
            return;
        }
        if (dice < 65) return send(peer);
        if (dice < 95) return hear(peer, dice < 80);
        if (dice < 97) reconnect(peer, dice < 96);
        if (dice >= 97) away_ |= 1U << peer;
    }
    void finish() {
        for (std::size_t peer = 0; peer < kPeers; ++peer) {
            if (peers_[peer].is_there) reconnect(peer, false);
            if (!peers_[peer].is_there) join(peer);
            catch_up(peer);
        }
        EXPECT_EQ(log_.in_memory(), 0U);
    }

    std::size_t orders_to_drop_everything = 0;
    std::size_t most_kept = 0;

private:
    static constexpr std::size_t kPeers = 4;

    void add() {
        std::vector<KeyHash> some_keys, some_tags;
        for (auto left = 1 + random_() % (different_ > 100 ? 300 : 5); left > 0; --left) {
            const auto number = random_() % different_;
            (number % 3 == 0 ? some_tags : some_keys).push_back(key(number / 2));
        }
        for (const auto& hash : some_keys) names_.push_back({hash.low, hash.high, false});
        for (const auto& hash : some_tags) names_.push_back({hash.low, hash.high, true});
        ASSERT_EQ(log_.add({some_keys, some_tags}), names_.size() - 1);
        ASSERT_LE(log_.size(), limit_);
        ASSERT_LE(log_.in_memory(), 2 * log_.size() + 64);
        most_kept = std::max(most_kept, log_.size());
    }
    void send(std::size_t peer) {
        auto& to = peers_[peer];
        const auto message = log_.next(peer, true);
        if (!message) return;
        Listener::Order order;
        order.made = log_.last();
        if (const auto* all = std::get_if<InvalidateAll>(&*message)) {
            order.last = all->last;
            order.is_all = true;
            ++orders_to_drop_everything;
        } else {
            const auto& some = std::get<Invalidate>(*message);
            order.last = some.last;
            for (const auto& hash : some.keys) order.names.push_back({hash.low, hash.high, false});
            for (const auto& hash : some.tags) order.names.push_back({hash.low, hash.high, true});
            ASSERT_FALSE(order.names.empty());
            ASSERT_LE(order.names.size(), kMaxInvalidatedAtOnce);
        }
        to.highest_sent = std::max(to.highest_sent, order.last);
        to.queue.push_back(std::move(order));
    }
    void hear(std::size_t peer, bool confirms) {
        auto& by = peers_[peer];
        if (by.queue.empty()) return;
        by.apply(by.queue.front());
        by.queue.pop_front();
        if (!confirms) return;
        const auto is_true = by.applied <= by.highest_sent;
        ASSERT_EQ(log_.confirm(peer, by.applied), is_true);
        if (!is_true) return;
        for (auto number = std::max(by.confirmed, by.joined) + 1; number <= by.applied; ++number) {
            ASSERT_TRUE(by.all >= number || by.heard[names_[number]] >= number)
                << "peer " << peer << " has confirmed " << by.applied << " and not heard of "
                << number;
        }
        by.confirmed = std::max(by.confirmed, by.applied);
    }
    void reconnect(std::size_t peer, bool new_instance) {
        auto& of = peers_[peer];
        away_ &= ~(1U << peer);
        for (auto arrives = random_() % 3; arrives > 0 && !of.queue.empty(); --arrives) {
            of.apply(of.queue.front());
            of.queue.pop_front();
        }
        of.queue.clear();
        if (new_instance) ++of.instance;
        log_.connected(peer, run_of(peer));
        if (new_instance) begin_instance(peer);
    }
    Instance run_of(std::size_t peer) const {
        Instance instance{};
        instance[0] = std::byte{1};
        std::memcpy(&instance[1], &peers_[peer].instance, sizeof peers_[peer].instance);
        return instance;
    }
    void begin_instance(std::size_t peer) {
        auto& of = peers_[peer];
        of.applied = of.all_by_run = 0;
        of.heard_by_run.clear();
        of.starts_after = of.highest_sent = log_.confirmed(peer);
    }
    void leave(std::size_t peer) {
        auto& of = peers_[peer];
        of.queue.clear();
        of.is_there = false;
        log_.remove_peer(peer);
    }
    /// The one of before, or somebody else.
    void join(std::size_t peer) {
        auto& of = peers_[peer];
        const auto comes_back = random_() % 2 == 0;
        if (!comes_back) of = Listener();
        of.is_there = true;
        log_.add_peer(peer);
        if (comes_back) log_.came_back(peer, {of.confirmed, run_of(peer)});
        log_.connected(peer, run_of(peer));
        of.joined = log_.last();
        begin_instance(peer);
    }
    /// Everything that is kept, and the last of each.
    void catch_up(std::size_t peer) {
        auto& of = peers_[peer];
        while (log_.pending(peer) > 0 || !of.queue.empty()) {
            send(peer);
            hear(peer, true);
            if (testing::Test::HasFatalFailure()) return;
        }
        ASSERT_EQ(log_.next(peer, true), std::nullopt);
        for (auto number = of.starts_after + 1; number < names_.size(); ++number)
            last_[names_[number]] = number;
        for (const auto& [name, number] : last_) {
            if (number <= of.starts_after) continue;
            ASSERT_TRUE(of.all_by_run >= number || of.heard_by_run[name] >= number)
                << "this instance of peer " << peer << " has not heard of " << number;
        }
    }

    Random random_;
    std::size_t limit_;
    InvalidationLog log_;
    std::vector<Listener::Name> names_;  // by number, from 1
    std::map<Listener::Name, std::uint64_t> last_;
    Listener peers_[kPeers];
    unsigned away_ = 0;  // bits
    std::uint64_t different_ = 0;
};

TEST(InvalidationLog, SendsAllPeersTheSameAsAHistoryThatForgetsNothing) {
    std::size_t most_kept = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        History history(seed, 1'000'000);
        for (int i = 0; i < 1500 && !HasFatalFailure(); ++i) history.step();
        history.finish();
        if (HasFailure()) return;
        most_kept = std::max(most_kept, history.most_kept);
    }
    EXPECT_GT(most_kept, 10'000U) << "nothing much happens in this test";
}

TEST(InvalidationLog, SendsAllPeersEnoughWhenThereIsNoRoomForAll) {
    std::size_t orders = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        History history(seed, 5 + seed * 90);
        for (int i = 0; i < 1500 && !HasFatalFailure(); ++i) history.step();
        history.finish();
        if (HasFailure()) return;
        orders += history.orders_to_drop_everything;
    }
    EXPECT_GT(orders, 0U);
}

}  // namespace invalidation_history_test
}  // namespace protocol::test
