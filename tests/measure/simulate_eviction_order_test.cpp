#include "measure/simulate/eviction_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "tests/measure/simulated.hpp"

namespace measure {
namespace {

using namespace test;

constexpr std::size_t kMe = 1, kOther = 0;

/// Objects 0 to 999, of one byte each, in the order of one proxy.
struct EvictionOrders : testing::Test {
    EvictionOrders() {
        for (unsigned i = 0; i < 1000; ++i) trace.add_url("http://h/" + std::to_string(i), 1000);
        objects.emplace(trace, Objects::Options{1000, true, summary::kDefaultKind, 1});
        holders.emplace(objects->size(), 2);
    }
    std::unique_ptr<EvictionOrder> make(Replacement replacement) {
        return make_eviction_order(replacement, *objects, *holders, kMe);
    }

    Trace trace;
    std::optional<Objects> objects;
    std::optional<Holders> holders;
};

TEST_F(EvictionOrders, LruIsAsAListThatIsSearched) {
    const auto order = make(Replacement::lru);
    std::deque<std::uint32_t> list;  // newest first
    SplitMix random(7);
    for (int i = 0; i < 20'000; ++i) {
        const auto object = static_cast<std::uint32_t>(random.below(1000));
        const auto at = std::find(list.begin(), list.end(), object);
        if (at != list.end()) {
            list.erase(at);
            order->touch(object);
        } else {
            if (list.size() == 100) {
                ASSERT_EQ(order->pop(), list.back());
                list.pop_back();
            }
            order->insert(object);
        }
        list.push_front(object);
    }
}

TEST_F(EvictionOrders, WhatOthersHoldGoesFirstOfTheOldest) {
    const auto order = make(Replacement::lru_copies);
    for (std::uint32_t object = 0; object < 100; ++object) order->insert(object);
    holders->add(3, kOther);
    holders->add(90, kOther);  // not among the oldest
    EXPECT_EQ(order->pop(), 3u);
    EXPECT_EQ(order->pop(), 0u);
    order->touch(1);
    EXPECT_EQ(order->pop(), 2u);
}

TEST_F(EvictionOrders, TheLastCopyGetsASecondRoundAndNoThird) {
    const auto order = make(Replacement::lru_keep_last);
    for (const auto object : {0u, 1u, 2u}) order->insert(object);
    holders->add(2, kOther);
    EXPECT_EQ(order->pop(), 2u);
    EXPECT_EQ(order->pop(), 0u);  // both have had theirs
    EXPECT_EQ(order->pop(), 1u);
}

TEST_F(EvictionOrders, AUseGivesTheLastCopyItsRoundBack) {
    const auto order = make(Replacement::lru_keep_last);
    for (const auto object : {0u, 1u, 2u}) order->insert(object);
    EXPECT_EQ(order->pop(), 0u);  // all have had theirs
    order->touch(1);
    order->insert(3);
    EXPECT_EQ(order->pop(), 2u);
}

TEST_F(EvictionOrders, S3FifoLetsAScanPassWhatIsUsed) {
    const auto order = make(Replacement::s3_fifo);
    for (std::uint32_t object = 0; object < 200; ++object) order->insert(object);
    for (std::uint32_t object = 0; object < 50; ++object) order->touch(object);
    int used_that_went = 0;  // of 50; from a list in order of use, all
    for (std::uint32_t object = 200; object < 1000; ++object) {
        if (order->pop() < 50) ++used_that_went;
        order->insert(object);
    }
    EXPECT_LT(used_that_went, 20);
}

TEST_F(EvictionOrders, S3FifoGivesEachObjectOutOnce) {
    const auto order = make(Replacement::s3_fifo);
    for (std::uint32_t object = 0; object < 1000; ++object) order->insert(object);
    std::vector<std::uint32_t> out;
    for (int i = 0; i < 1000; ++i) out.push_back(order->pop());
    std::sort(out.begin(), out.end());
    EXPECT_EQ(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace
}  // namespace measure
