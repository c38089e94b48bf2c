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
