#include "proxy/storage/eviction_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <vector>

namespace proxy {
namespace eviction_queue_test {

/// One object's place in the queue.
struct Item : EvictionQueue::Node {
    explicit Item(std::uint64_t number) { hash = {number, number}; }
};

/// The queue of one shard where requests are favoured.
struct ByValue : EvictionQueue {
    ByValue() { favour(Favour::requests, clock); }
    std::atomic<std::uint32_t> clock{0};
};

TEST(EvictionQueue, KeepsUsedObjectsThroughAScan) {
    EvictionQueue queue;
    std::vector<std::unique_ptr<Item>> items;
    for (std::uint64_t i = 0; i < 100; ++i) {
        items.push_back(std::make_unique<Item>(i));
        queue.insert(*items.back(), 1);
        EvictionQueue::touch(*items.back());
    }
    const std::set<EvictionQueue::Node*> used = [&] {
        std::set<EvictionQueue::Node*> all;
        for (const auto& item : items) all.insert(item.get());
        return all;
    }();
    std::size_t lost = 0;
    for (std::uint64_t i = 100; i < 1100; ++i) {  // each seen once
        items.push_back(std::make_unique<Item>(i));
        queue.insert(*items.back(), 1);
        if (queue.bytes() > 100) lost += used.contains(queue.pop_victim());
    }
    EXPECT_LE(lost, 15u) << "at most the share of the small queue";
}

TEST(EvictionQueue, CountsBytesAndEndsEmpty) {
    EvictionQueue queue;
    std::vector<std::unique_ptr<Item>> items;
    for (std::uint64_t i = 0; i < 10; ++i) {
        items.push_back(std::make_unique<Item>(i));
        queue.insert(*items.back(), 10);
    }
    queue.insert(*items[3], 25);  // grew
    EXPECT_EQ(queue.bytes(), 115u);
    queue.remove(*items[3]);
    EXPECT_EQ(queue.bytes(), 90u);
    for (int i = 0; i < 9; ++i) EXPECT_NE(queue.pop_victim(), nullptr);
    EXPECT_EQ(queue.pop_victim(), nullptr);
    EXPECT_EQ(queue.bytes(), 0u);
}

TEST(EvictionQueue, KeepsSmallAndUsedObjectsWhereRequestsAreFavoured) {
    ByValue queue;
    std::vector<std::unique_ptr<Item>> small;
    for (std::uint64_t i = 0; i < 100; ++i) {
        small.push_back(std::make_unique<Item>(i));
        queue.insert(*small.back(), 1 << 10);
    }
    Item large(1000), used(1001);
    queue.insert(large, 1 << 20);
    queue.insert(used, 1 << 20);
    EvictionQueue::touch(used);
    EXPECT_EQ(queue.bytes(), (100u << 10) + (2u << 20));
    EXPECT_EQ(queue.pop_victim(), &large) << "it spares one request in place of a thousand";
    EXPECT_EQ(queue.pop_victim(), &used);
    EXPECT_EQ(queue.bytes(), 100u << 10);
}

TEST(EvictionQueue, ForgetsUsesOfLongAgoWhereRequestsAreFavoured) {
    ByValue queue;
    Item once_popular(1);
    queue.insert(once_popular, 1 << 10);
    for (int i = 0; i < 3; ++i) EvictionQueue::touch(once_popular);
    std::vector<std::unique_ptr<Item>> stream;
    auto victims = 0;
    for (std::uint64_t i = 2; once_popular.queued() && victims < 10'000; ++i) {
        stream.push_back(std::make_unique<Item>(i));
        queue.insert(*stream.back(), 1 << 10);
        if (stream.size() > 50) victims += queue.pop_victim() != nullptr;
    }
    EXPECT_FALSE(once_popular.queued()) << "the clock has passed it";
}

TEST(EvictionQueue, ChangesTheSizeOfAnObjectWhereRequestsAreFavoured) {
    ByValue queue;
    Item grown(1), other(2);
    queue.insert(grown, 100);
    queue.insert(other, 1000);
    queue.insert(grown, 100'000);
    EXPECT_EQ(queue.bytes(), 101'000u);
    queue.pin(other);
    EXPECT_EQ(queue.bytes(), 100'000u);
    EXPECT_EQ(queue.pop_victim(), &grown);
    EXPECT_EQ(queue.pop_victim(), nullptr);
    queue.unpin_unless([](const auto&) { return false; });
    EXPECT_EQ(queue.pop_victim(), &other);
    EXPECT_EQ(queue.bytes(), 0u);
}

TEST(EvictionQueue, GivesACopyAQuarterOfTheWorthWhereRequestsAreFavoured) {
    ByValue queue;
    Item original(1), copy(2), used_copy(3), large(4);
    queue.insert(original, 1000);
    queue.insert(copy, 1000, SentBy::peer);
    queue.insert(used_copy, 1000, SentBy::peer);
    queue.insert(large, 16'000);
    for (int i = 0; i < 3; ++i) EvictionQueue::touch(used_copy);
    EXPECT_EQ(queue.pop_victim(), &large) << "a sixteenth of the worth";
    EXPECT_EQ(queue.pop_victim(), &copy);
    EXPECT_EQ(queue.pop_victim(), &original);
    EXPECT_EQ(queue.pop_victim(), &used_copy) << "as much as the original, from a later look on";
}

TEST(EvictionQueue, TurnsACopyIntoAnOriginalWhereRequestsAreFavoured) {
    ByValue queue;
    Item copy(1), renewed(2), later_copy(3);
    queue.insert(renewed, 1000, SentBy::peer);
    queue.insert(copy, 1000, SentBy::peer);
    queue.insert(renewed, 1000);  // the origin has sent it since
    queue.insert(later_copy, 1000, SentBy::peer);
    EXPECT_EQ(queue.pop_victim(), &copy);
    EXPECT_EQ(queue.pop_victim(), &later_copy);
}

TEST(EvictionQueue, HidesNoneBehindAPopularOneOfItsSizeWhereRequestsAreFavoured) {
    ByValue queue;
    Item popular(1), first(2), once(3), smaller(4);
    queue.insert(popular, 10'000);
    queue.insert(first, 1 << 20);
    for (int i = 0; i < 3; ++i) EvictionQueue::touch(popular);
    queue.insert(smaller, 4000);
    EXPECT_EQ(queue.pop_victim(), &first);
    queue.insert(once, 10'000);
    EXPECT_EQ(queue.pop_victim(), &once);
    EXPECT_EQ(queue.pop_victim(), &smaller);
    EXPECT_EQ(queue.pop_victim(), &popular);
}

TEST(EvictionQueue, GivesUpNoValueAheadOfALimit) {
    ByValue queue, other;
    Item small(1), large(2);
    queue.insert(small, 1 << 10);
    other.insert(large, 1 << 20);
    EXPECT_EQ(queue.pop_victim(other.least()), nullptr);
    EXPECT_EQ(queue.bytes(), 1u << 10);
    EXPECT_EQ(other.pop_victim(queue.least()), &large);
    EXPECT_EQ(other.pop_victim(queue.least()), nullptr) << "it is empty";
    EXPECT_EQ(queue.pop_victim(other.least()), &small) << "nothing there is worth less";
}

TEST(EvictionQueue, NeverHasALessValueThanItTells) {
    ByValue queue;
    std::vector<std::unique_ptr<Item>> items;
    std::uint64_t random = 1;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        items.push_back(std::make_unique<Item>(i));
        const auto sender = random >> 61 == 0 ? SentBy::peer : SentBy::origin;
        queue.insert(*items.back(), std::uint64_t{64} << (random >> 60), sender);
        auto& earlier = *items[(random >> 20) % items.size()];
        if (earlier.queued()) EvictionQueue::touch(earlier);
        if (i % 7 == 0) queue.remove(earlier);
        if (i < 200) continue;
        const auto least = queue.least();
        if (queue.pop_victim(least - 1) != nullptr) FAIL() << i;
        ASSERT_NE(queue.pop_victim(queue.least() + (1u << 27)), nullptr);
    }
}

TEST(EvictionQueue, OutlivesTheRangeOfItsClockWhereRequestsAreFavoured) {
    ByValue queue;
    // Each victim moves the clock by 2^20, so that it passes 2^32 several times.
    Item a(1), b(2);
    queue.insert(a, 1);
    for (int i = 0; i < 20'000; ++i) {
        queue.insert(i % 2 == 0 ? b : a, 1);
        ASSERT_EQ(queue.pop_victim(), i % 2 == 0 ? &a : &b) << i;
    }
}

TEST(EvictionQueue, RemembersEvictedKeysForAWhile) {
    EvictionQueue queue;
    Item first(1), other(2);
    queue.insert(first, 1);
    EXPECT_EQ(queue.pop_victim(), &first);
    queue.insert(first, 1);  // back soon: straight to the main queue
    queue.insert(other, 1);
    EXPECT_EQ(queue.pop_victim(), &other);
}

TEST(EvictionQueue, LeavesACopyInTheSmallQueueUntilTwoUses) {
    EvictionQueue queue;
    Item original(1), copy(2), used_copy(3);
    queue.insert(original, 10);
    queue.insert(copy, 10, SentBy::peer);
    queue.insert(used_copy, 10, SentBy::peer);
    EvictionQueue::touch(original);
    EvictionQueue::touch(copy);
    EvictionQueue::touch(used_copy);
    EvictionQueue::touch(used_copy);
    EXPECT_EQ(queue.pop_victim(), &copy);
    EXPECT_EQ(queue.pop_victim(), &original) << "from the main queue, in order";
    EXPECT_EQ(queue.pop_victim(), &used_copy);
}

TEST(EvictionQueue, TakesACopyThatReturnsForANewOne) {
    EvictionQueue queue;
    Item copy(1), other(2);
    queue.insert(copy, 1, SentBy::peer);
    EXPECT_EQ(queue.pop_victim(), &copy);
    queue.insert(copy, 1, SentBy::peer);
    queue.insert(other, 1);
    EXPECT_EQ(queue.pop_victim(), &copy);
}

TEST(EvictionQueue, GivesACopyOneMoreRoundForAllItsUses) {
    EvictionQueue queue;
    Item original(1), copy(2);
    for (auto* const item : {&original, &copy}) {
        queue.insert(*item, 1, item == &copy ? SentBy::peer : SentBy::origin);
        EvictionQueue::touch(*item);
        EvictionQueue::touch(*item);
    }
    Item pushing(3);
    queue.insert(pushing, 1);
    ASSERT_EQ(queue.pop_victim(), &pushing) << "both are in the main queue";
    for (auto* const item : {&original, &copy})
        for (int i = 0; i < 3; ++i) EvictionQueue::touch(*item);
    EXPECT_EQ(queue.pop_victim(), &copy) << "the original has uses left";
}

TEST(EvictionQueue, SetsPinnedNodesAsideAndLeavesThemOutOfItsBytes) {
    std::atomic<std::uint64_t> total{0};
    EvictionQueue queue;
    queue.count_into(total);
    Item used(1), other(2);
    queue.insert(used, 10);
    queue.insert(other, 5);
    ASSERT_EQ(queue.pop_victim(), &used);
    queue.pin(used);
    EXPECT_EQ(total, 5u);
    EXPECT_EQ(queue.pop_victim(), &other);
    EXPECT_EQ(queue.pop_victim(), nullptr);
    queue.insert(used, 20);  // it grew meanwhile
    queue.unpin_unless([](const auto&) { return true; });
    EXPECT_EQ(queue.pop_victim(), nullptr);
    EXPECT_EQ(total, 0u);
    queue.unpin_unless([](const auto&) { return false; });
    EXPECT_EQ(total, 20u);
    EXPECT_EQ(queue.pop_victim(), &used);
    EXPECT_EQ(total, 0u);
}

}  // namespace eviction_queue_test
}  // namespace proxy
