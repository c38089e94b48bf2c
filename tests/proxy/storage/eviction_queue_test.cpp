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
    EvictionQueue queue;
    queue.favour(Favour::requests);
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
    EvictionQueue queue;
    queue.favour(Favour::requests);
    Item once_popular(1);
    queue.insert(once_popular, 1 << 20);
    for (int i = 0; i < 3; ++i) EvictionQueue::touch(once_popular);
    std::vector<std::unique_ptr<Item>> stream;
    auto victims = 0;
    for (std::uint64_t i = 2; once_popular.queued() && victims < 100'000; ++i) {
        stream.push_back(std::make_unique<Item>(i));
        queue.insert(*stream.back(), 1 << 10);
        if (stream.size() > 50) victims += queue.pop_victim() != nullptr;
    }
    EXPECT_FALSE(once_popular.queued()) << "the clock has passed it";
}

TEST(EvictionQueue, ChangesTheSizeOfAnObjectWhereRequestsAreFavoured) {
    EvictionQueue queue;
    queue.favour(Favour::requests);
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

TEST(EvictionQueue, OutlivesTheRangeOfItsClockWhereRequestsAreFavoured) {
    EvictionQueue queue;
    queue.favour(Favour::requests);
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
