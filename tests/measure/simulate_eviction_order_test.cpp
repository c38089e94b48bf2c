#include "measure/simulate/make_eviction_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "measure/study/scheme_name.hpp"
#include "tests/measure/simulated.hpp"

namespace measure {
namespace simulate_eviction_order_test {

using namespace test;

/// Objects 0 to 999, of one byte each, in the order of one proxy.
struct EvictionOrders : testing::Test {
    EvictionOrders() {
        for (unsigned i = 0; i < 1000; ++i) trace.add_url("http://h/" + std::to_string(i), 1000);
        objects.emplace(trace, Objects::Options{1000, true, summary::kDefaultKind, 1});
    }
    std::unique_ptr<EvictionOrder> make(Replacement replacement) {
        return make_eviction_order(replacement, *objects);
    }

    Trace trace;
    std::optional<Objects> objects;
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

TEST_F(EvictionOrders, OfANodeGiveUpCopiesOfPeersFirst) {
    for (const auto replacement : {Replacement::s3_fifo, Replacement::by_value}) {
        const auto order = make(replacement);
        for (std::uint32_t object = 0; object < 400; ++object) {
            order->insert(object, object % 2 == 0 ? proxy::SentBy::peer : proxy::SentBy::origin);
            order->touch(object);
        }
        int copies = 0;
        for (int i = 0; i < 100; ++i) copies += order->pop() % 2 == 0;
        EXPECT_EQ(copies, 100) << name(replacement);
    }
}

TEST_F(EvictionOrders, EachGivesEveryObjectOutOnce) {
    for (const auto replacement : kReplacements) {
        const auto order = make(replacement);
        for (std::uint32_t object = 0; object < 1000; ++object) order->insert(object);
        for (std::uint32_t object = 0; object < 1000; object += 3) order->touch(object);
        std::vector<std::uint32_t> out;
        for (int i = 0; i < 1000; ++i) out.push_back(order->pop());
        std::sort(out.begin(), out.end());
        EXPECT_EQ(std::unique(out.begin(), out.end()), out.end()) << name(replacement);
    }
}

// 0 1 2 3 4, oldest first; the hand spares 0 and 2 once, and they stay where they stand.
TEST_F(EvictionOrders, SievesHandGoesOnFromWhereItTookTheLast) {
    const auto order = make(Replacement::sieve);
    for (const auto object : {0u, 1u, 2u, 3u, 4u}) order->insert(object);
    order->touch(0);
    order->touch(2);
    EXPECT_EQ(order->pop(), 1u);  // 0 is spared
    order->insert(5);
    EXPECT_EQ(order->pop(), 3u);  // 2 is spared
    EXPECT_EQ(order->pop(), 4u);
    EXPECT_EQ(order->pop(), 5u);  // the newest: the hand reaches the object used long ago last
    EXPECT_EQ(order->pop(), 0u);
    EXPECT_EQ(order->pop(), 2u);
}

// Room for three. 0 is protected, 1 on probation, 2 in the window.
TEST_F(EvictionOrders, WTinyLfuKeepsWhatWasAskedForMoreOften) {
    const auto order = make(Replacement::w_tiny_lfu);
    for (const auto object : {0u, 1u, 2u}) order->insert(object);
    order->touch(0);
    EXPECT_EQ(order->pop(), 2u);  // as often as 1
    order->insert(3);
    EXPECT_EQ(order->pop(), 3u);
    order->insert(3);             // for the second time
    EXPECT_EQ(order->pop(), 1u);  // once
    order->insert(4);
    EXPECT_EQ(order->pop(), 4u);  // 3 is on probation now, and was asked for twice
    EXPECT_EQ(order->pop(), 3u);
    EXPECT_EQ(order->pop(), 0u);
}

TEST_F(EvictionOrders, WTinyLfuLetsAScanPassWhatIsUsed) {
    const auto order = make(Replacement::w_tiny_lfu);
    for (std::uint32_t object = 0; object < 200; ++object) order->insert(object);
    for (std::uint32_t object = 0; object < 50; ++object) order->touch(object);
    for (std::uint32_t object = 200; object < 1000; ++object) {
        EXPECT_GE(order->pop(), 50u);
        order->insert(object);
    }
}

// Objects of 1, 2, 4 and 4 kB: uses / bytes, and the priority of the last victim.
TEST(GdsfOrder, TakesWhatIsLargeAndSeldomUsed) {
    const auto made = [](std::initializer_list<std::uint64_t> bytes) {
        Trace trace;
        unsigned name = 0;
        for (const auto each : bytes) trace.add_url("http://h/" + std::to_string(name++), each);
        return Objects(trace, {});
    };
    const auto overhead = made({1}).charged(0) - 1;
    ASSERT_LT(overhead, 1000u);
    const auto objects = made({1000 - overhead, 2000 - overhead, 4000 - overhead, 4000 - overhead});
    ASSERT_EQ(objects.charged(2), 4000u);
    const auto order = make_eviction_order(Replacement::gdsf, objects);
    for (const auto object : {0u, 1u, 2u}) order->insert(object);  // 1/1000, 1/2000, 1/4000
    for (int i = 0; i < 3; ++i) order->touch(2);                   // 4/4000
    EXPECT_EQ(order->pop(), 1u);                                   // from here on + 0.0005
    order->insert(3);                                              // 0.0005 + 1/4000
    EXPECT_EQ(order->pop(), 3u);                                   // + 0.00075
    order->touch(0);                                               // 0.00075 + 2/1000
    EXPECT_EQ(order->pop(), 2u);                                   // as before the clock went on
    order->insert(1);                                              // 0.001 + 1/2000
    EXPECT_EQ(order->pop(), 1u);
    EXPECT_EQ(order->pop(), 0u);
}

}  // namespace simulate_eviction_order_test
}  // namespace measure
