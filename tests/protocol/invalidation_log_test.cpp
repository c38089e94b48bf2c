// The entries that are kept for each peer, in this instance and for the next.

#include "protocol/publishing/invalidation_log.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/membership/peering_config.hpp"
#include "protocol/wire/codec.hpp"
#include "tests/protocol/some_hashes.hpp"

namespace protocol::test {
namespace invalidation_log_test {

constexpr Instance kInstance{std::byte{1}}, kNextInstance{std::byte{2}};

TEST(InvalidationLog, SendsToEachPeerWhatItHasNotConfirmed) {
    InvalidationLog log(2, 100);
    EXPECT_EQ(log.next(0, true), std::nullopt);
    EXPECT_EQ(log.add({some(2), some(1, 50)}), 3U);
    EXPECT_EQ(log.next(0, true), Message(Invalidate{3, some(2), some(1, 50)}));
    EXPECT_EQ(log.next(0, true), std::nullopt);
    EXPECT_EQ(log.add({some(1, 9), {}}), 4U);
    EXPECT_EQ(log.next(0, true), Message(Invalidate{4, some(1, 9), {}}));
    EXPECT_TRUE(log.confirm(0, 3));
    EXPECT_EQ(log.pending(0), 1U);
    EXPECT_EQ(log.pending(1), 4U);
    EXPECT_EQ(log.sent(0), 4U);
    EXPECT_EQ(log.next(1, true), Message(Invalidate{4, {{1, 7}, {2, 7}, {9, 7}}, some(1, 50)}));
}

TEST(InvalidationLog, SendsSoftOnesApartToPeersThatTakeThem) {
    InvalidationLog log(2, 100);
    log.add({some(1), {}});
    log.add({some(1, 2), some(1, 50), false, true});
    log.add({some(1, 3), {}});
    EXPECT_EQ(log.next(0, true), Message(Invalidate{1, some(1), {}}));
    EXPECT_EQ(log.next(0, true), Message(Invalidate{3, some(1, 2), some(1, 50), true}));
    EXPECT_EQ(log.next(0, true), Message(Invalidate{4, some(1, 3), {}}));
    EXPECT_EQ(log.next(0, true), std::nullopt);
    EXPECT_EQ(log.next(1, false), Message(Invalidate{4, some(3), some(1, 50)}));
}

TEST(InvalidationLog, KeepsAnInvalidationBetweenSoftOnesOfTheSameKey) {
    InvalidationLog log(1, 1000);
    log.add({some(1), {}, false, true});
    log.add({some(1), {}});
    for (std::uint64_t i = 0; i < 200; ++i) log.add({some(1), {}, false, true});
    EXPECT_EQ(log.next(0, true), Message(Invalidate{1, some(1), {}, true}));
    EXPECT_EQ(log.next(0, true), Message(Invalidate{2, some(1), {}}));
}

TEST(InvalidationLog, SendsAgainAfterAReconnectWhatWasNotConfirmed) {
    InvalidationLog log(1, 100);
    log.connected(0, kInstance);
    log.add({some(3), {}});
    log.next(0, true);
    EXPECT_TRUE(log.confirm(0, 1));
    log.connected(0, kInstance);
    EXPECT_EQ(log.next(0, true), Message(Invalidate{3, some(2, 2), {}}));
    EXPECT_TRUE(log.confirm(0, 3));
    log.connected(0, kInstance);
    EXPECT_EQ(log.next(0, true), std::nullopt);
    EXPECT_EQ(log.pending(0), 0U);
}

TEST(InvalidationLog, SendsToANewInstanceAllThatIsKeptAsItHasForgotten) {
    InvalidationLog log(2, 100);
    log.add({some(3), {}});
    log.next(0, true);
    EXPECT_TRUE(log.confirm(0, 3));  // the other peer is away, so all three are kept
    log.connected(0, kNextInstance);
    EXPECT_EQ(log.pending(0), 3U);
    EXPECT_EQ(log.next(0, true), Message(Invalidate{3, some(3), {}}));
}

TEST(InvalidationLog, ForgetsWhatAllHaveConfirmed) {
    InvalidationLog log(2, 100);
    log.add({some(3), {}});
    for (const std::size_t peer : {0, 1}) {
        log.next(peer, true);
        EXPECT_TRUE(log.confirm(peer, 3));
    }
    log.connected(0, kNextInstance);
    EXPECT_EQ(log.next(0, true), std::nullopt);
}

TEST(InvalidationLog, KeepsNothingWithoutPeers) {
    InvalidationLog log(0, 1);
    EXPECT_EQ(log.add({some(5), {}}), 5U);
    EXPECT_EQ(log.last(), 5U);
}

TEST(InvalidationLog, OrdersToDropEverythingInPlaceOfWhatWasTooMuchToKeep) {
    InvalidationLog log(2, 4);
    log.connected(1, kInstance);
    log.add({some(2), {}});
    log.next(0, true);
    EXPECT_TRUE(log.confirm(0, 2));
    log.add({some(4, 3), {}});  // 1 and 2 are forgotten, which the second has not confirmed
    EXPECT_EQ(log.next(0, true), Message(Invalidate{6, some(4, 3), {}}));
    EXPECT_EQ(log.next(1, true), Message(InvalidateAll{6}));
    EXPECT_EQ(log.next(1, true), std::nullopt);
    EXPECT_TRUE(log.confirm(1, 6));
    EXPECT_EQ(log.pending(1), 0U);
    log.connected(1, kInstance);
    EXPECT_EQ(log.next(1, true), std::nullopt);
}

TEST(InvalidationLog, SendsAPeerThatWasAwayEachHashOnce) {
    InvalidationLog log(3, 3000);
    log.add({some(1, 9), {}});
    EXPECT_EQ(log.next(2, true), Message(Invalidate{1, some(1, 9), {}}));
    log.confirm(2, 1);  // then it leaves, later than the second
    for (int i = 0; i < 10'000; ++i) {
        const auto last = log.add({some(2), some(1, 1)});
        log.next(0, true);
        ASSERT_TRUE(log.confirm(0, last));
    }
    EXPECT_LE(log.size(), 2000U);
    EXPECT_EQ(log.pending(0), 0U);
    for (const std::size_t away : {1, 2}) {
        std::size_t keys = 0;
        std::uint64_t last = 0;
        while (const auto message = log.next(away, true)) {
            const auto* order = std::get_if<Invalidate>(&*message);
            ASSERT_NE(order, nullptr) << "not to drop everything";
            keys += order->keys.size();
            last = order->last;
        }
        EXPECT_LE(keys, 2000U);
        EXPECT_TRUE(log.confirm(away, last));
        EXPECT_EQ(log.pending(away), 0U);
    }
    EXPECT_EQ(log.size(), 0U);
}

TEST(InvalidationLog, SendsAgainToWhomHasHeardOfItBefore) {
    InvalidationLog log(2, 10'000);
    log.connected(0, kInstance);
    log.add({some(1, 5), {}});
    log.next(0, true);  // not confirmed
    for (std::uint64_t i = 0; i < 4000; ++i) log.add({some(1, 5), {}});
    EXPECT_LE(log.size(), 1100U);
    EXPECT_EQ(log.next(0, true).has_value(), true) << "it may have applied the first alone";
    log.connected(0, kInstance);
    std::uint64_t last = 0;
    while (const auto message = log.next(0, true)) last = std::get<Invalidate>(*message).last;
    EXPECT_EQ(last, 4001U);
}

TEST(InvalidationLog, KeepsWhatManyUnsafeRequestsOfALongPartitionEnded) {
    InvalidationLog log(1, PeeringConfig().max_invalidations_kept);
    auto different = some(200'000);
    for (auto& hash : different) hash.low *= 0x9e3779b97f4a7c15;  // uniform, as hashes are
    log.add({different, {}});
    const auto first = log.next(0, true);
    EXPECT_TRUE(std::holds_alternative<Invalidate>(*first));
}

TEST(InvalidationLog, CutsALongListIntoFrames) {
    InvalidationLog log(1, 10 * kMaxInvalidatedAtOnce);
    log.add({some(kMaxInvalidatedAtOnce + 1), {}});
    EXPECT_EQ(log.next(0, true),
              Message(Invalidate{kMaxInvalidatedAtOnce, some(kMaxInvalidatedAtOnce), {}}));
    EXPECT_EQ(
        log.next(0, true),
        Message(Invalidate{kMaxInvalidatedAtOnce + 1, some(1, kMaxInvalidatedAtOnce + 1), {}}));
}

TEST(InvalidationLog, DoesNotBelieveAConfirmationOfWhatWasNotSent) {
    InvalidationLog log(1, 100);
    log.add({some(3), {}});
    EXPECT_FALSE(log.confirm(0, 1));
    log.next(0, true);
    EXPECT_FALSE(log.confirm(0, 4));
    EXPECT_TRUE(log.confirm(0, 3));
    EXPECT_TRUE(log.confirm(0, 2)) << "late, but true";
    EXPECT_EQ(log.confirmed(0), 3U);
}

TEST(InvalidationLog, TakesAConfirmationOfWhatAnEarlierConnectionSent) {
    InvalidationLog log(2, 10 * kMaxInvalidatedAtOnce);
    log.connected(0, kInstance);
    log.add({some(3 * kMaxInvalidatedAtOnce), {}});
    while (log.next(0, true)) continue;
    log.connected(0, kInstance);  // its confirmation was lost with the connection
    ASSERT_TRUE(log.next(0, true));
    EXPECT_TRUE(log.confirm(0, 3 * kMaxInvalidatedAtOnce)) << "it has applied all of it";
    EXPECT_EQ(log.next(0, true), std::nullopt) << "nothing is left to send again";
    EXPECT_EQ(log.pending(0), 0U);
}

TEST(InvalidationLog, ANewInstanceCannotConfirmWhatWasSentToTheOneBefore) {
    InvalidationLog log(2, 100);
    log.add({some(3), {}});
    log.next(0, true);
    log.connected(0, kNextInstance);
    EXPECT_FALSE(log.confirm(0, 3));
    log.next(0, true);
    EXPECT_TRUE(log.confirm(0, 3));
}

TEST(InvalidationLog, APeerThatIsListedAgainGoesOnFromWhatItHadConfirmed) {
    InvalidationLog log(2, 100);
    log.add({some(5), {}});
    for (const std::size_t peer : {0, 1}) {
        log.next(peer, true);
        EXPECT_TRUE(log.confirm(peer, 5));
    }
    log.remove_peer(1);
    log.add_peer(1);
    log.came_back(
        1, {2, kInstance});  // 3 to 5 were confirmed by all who were listed then, and are forgotten
    EXPECT_EQ(log.next(1, true), Message(InvalidateAll{5}));
    EXPECT_EQ(log.next(0, true), std::nullopt);
}

TEST(InvalidationLog, NoEntryWaitsForAFormerPeer) {
    InvalidationLog log(2, 100);
    log.add({some(5), {}});
    log.next(0, true);
    EXPECT_TRUE(log.confirm(0, 5));
    EXPECT_EQ(log.size(), 5U);
    log.remove_peer(1);
    EXPECT_EQ(log.size(), 0U);
    log.add({some(1, 50), {}});
    EXPECT_EQ(log.size(), 1U);
    log.add_peer(7);
    EXPECT_EQ(log.pending(7), 6U);
    EXPECT_TRUE(log.confirm(0, 5));
}

TEST(InvalidationLog, TheNextInstanceSendsUnconfirmedInvalidations) {
    InvalidationBacklog kept;
    {
        InvalidationLog log(3, 100);
        log.add({some(2), {}});
        for (const std::size_t peer : {0, 1, 2}) {
            log.next(peer, true);
            EXPECT_TRUE(log.confirm(peer, 2));
        }
        log.add({some(1, 8), some(1, 50)});
        log.next(0, true);
        EXPECT_TRUE(log.confirm(0, 4));
        kept = log.kept();
    }
    EXPECT_EQ(kept.gone, 2U);
    EXPECT_EQ(kept.last, 4U);
    EXPECT_EQ(kept.entries,
              (std::vector<InvalidationBacklog::Entry>{{3, {8, 7}}, {4, {50, 7}, true}}));

    InvalidationLog log(0, 100);
    log.go_on_from(kept);
    EXPECT_EQ(log.kept(), kept);
    for (const std::size_t peer : {0, 1, 2, 3}) log.add_peer(peer);
    log.came_back(0, {4, kInstance});
    log.came_back(1, {2, kInstance});
    log.came_back(2, {99, kInstance});  // more than the earlier instance could keep
    for (const std::size_t peer : {0, 1, 2, 3}) log.connected(peer, kInstance);
    EXPECT_EQ(log.next(0, true), std::nullopt);
    EXPECT_EQ(log.next(1, true), Message(Invalidate{4, some(1, 8), some(1, 50)}));
    EXPECT_EQ(log.next(2, true), std::nullopt);
    EXPECT_EQ(log.next(3, true), Message(InvalidateAll{4})) << "it was never met";
    EXPECT_EQ(log.add({some(1, 9), {}}), 5U);
    EXPECT_EQ(log.next(2, true), Message(Invalidate{5, some(1, 9), {}}));
}

// A journal has the confirmed entries, too, until it is written anew.
TEST(InvalidationLog, TheNextInstanceRepeatsAKeptInvalidationOnlyForAPeerThatForgotIt) {
    const InvalidationBacklog::PeerProgress all{3, kInstance}, two{2, kInstance};
    const InvalidationBacklog kept{0, 3, {{1, {1, 7}}, {2, {2, 7}}, {3, {3, 7}}}, {}};
    for (const auto& other : {all, two}) {
        InvalidationLog log(0, 100);
        log.go_on_from(kept);
        for (const std::size_t peer : {0, 1, 2}) log.add_peer(peer);
        log.came_back(0, all);
        log.came_back(1, all);
        log.came_back(2, other);
        log.forget_all_confirmed();
        log.connected(0, kInstance);
        EXPECT_EQ(log.next(0, true), std::nullopt) << "it goes on, and remembers";
        log.connected(1, kNextInstance);
        if (other == all) {
            EXPECT_EQ(log.next(1, true), std::nullopt);
        } else {
            EXPECT_EQ(log.next(1, true), Message(Invalidate{3, some(1, 3), {}}))
                << "the other may still have it to give away";
        }
        EXPECT_EQ(log.standing(1),
                  (InvalidationBacklog::PeerProgress{other.number, kNextInstance}));
    }
}

TEST(InvalidationLog, TheNextInstanceForgetsAllThatIsConfirmedHoweverManyTheyAre) {
    constexpr std::uint64_t kMany = 50'000;
    std::vector<summary::KeyHash> hashes(kMany);
    for (std::uint64_t i = 0; i < kMany; ++i) hashes[i] = {summary::mix(i), i};
    InvalidationLog first(1, 2 * kMany);
    first.add({hashes, {}});
    InvalidationLog log(0, 2 * kMany);
    log.go_on_from(first.kept());
    log.add_peer(0);
    log.came_back(0, {kMany, kInstance});
    log.forget_all_confirmed();
    EXPECT_EQ(log.size(), 0U);
}

TEST(InvalidationLog, EntriesBeyondTheRoomOfTheNextInstanceBecomeAnOrderToDropEverything) {
    InvalidationLog first(1, 100);
    first.add({some(100), {}});
    InvalidationLog next(0, 10);
    next.go_on_from(first.kept());
    EXPECT_LE(next.size(), 10U);
    next.add_peer(0);
    EXPECT_EQ(next.next(0, true), Message(InvalidateAll{100}));
}

TEST(InvalidationLog, ALatePeerGetsAllOrDropsEverything) {
    InvalidationLog log(1, 100);
    log.keep_for_newcomers(4);
    const auto told_to_all = [&](std::size_t count, std::uint64_t from) {
        log.add({some(count, from), {}});
        log.next(0, true);
        EXPECT_TRUE(log.confirm(0, log.last()));
    };
    told_to_all(4, 10);
    log.add_peer(1);
    EXPECT_EQ(log.next(1, true), Message(Invalidate{4, some(4, 10), {}}));
    EXPECT_TRUE(log.confirm(1, 4));
    told_to_all(1, 50);
    EXPECT_TRUE(log.confirm(1, 4));
    log.next(1, true);
    EXPECT_TRUE(log.confirm(1, 5));
    EXPECT_EQ(log.size(), 4U);
    log.add_peer(2);
    EXPECT_EQ(log.next(2, true), Message(InvalidateAll{5}));
}

}  // namespace invalidation_log_test
}  // namespace protocol::test
