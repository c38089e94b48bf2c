#include "proxy/control_feed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace proxy::test {
namespace control_feed_test {

TEST(ControlFeed, DeliversAllInOrderInBatchesWithTurnsForOthersInBetween) {
    boost::asio::io_context control{1};
    std::vector<int> got;
    std::size_t largest = 0, batches = 0, others = 0;
    ControlFeed<int> feed(control, [&](std::span<const int> items) {
        got.insert(got.end(), items.begin(), items.end());
        largest = std::max(largest, items.size());
        ++batches;
        boost::asio::post(control, [&] { ++others; });
    });
    constexpr int kMany = 10 * static_cast<int>(kFeedBatch) + 7;
    for (int i = 0; i < kMany; ++i) feed.push(i);
    while (others < batches || batches == 0) {
        ASSERT_GT(control.run_one(), 0u);
        EXPECT_LE(batches, others + 2) << "it goes on before others have had their turn";
    }
    control.run();
    EXPECT_EQ(largest, kFeedBatch);
    EXPECT_EQ(batches, 11u);
    ASSERT_EQ(got.size(), std::size_t{kMany});
    for (int i = 0; i < kMany; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST(ControlFeed, WhatIsPushedWhileItDeliversComesAfterwards) {
    boost::asio::io_context control{1};
    std::vector<int> got;
    ControlFeed<int>* of = nullptr;
    ControlFeed<int> feed(control, [&](std::span<const int> items) {
        for (const auto item : items) {
            got.push_back(item);
            if (item < 3) of->push(item + 1);
        }
    });
    of = &feed;
    feed.push(0);
    control.run();
    EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3}));
    control.restart();
    feed.push(9);
    control.run();
    EXPECT_EQ(got.back(), 9);
}

TEST(ControlFeed, TakesFromManyThreads) {
    boost::asio::io_context control{1};
    auto work = boost::asio::make_work_guard(control);
    constexpr std::size_t kEach = 20'000;
    std::vector<std::size_t> next(3);  // of each thread
    std::size_t got = 0;
    ControlFeed<std::pair<std::size_t, std::size_t>> feed(control, [&](auto items) {
        for (const auto& [thread, number] : items) {
            EXPECT_EQ(number, next[thread]++);
            if (++got == 3 * kEach) work.reset();
        }
    });
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 3; ++i)
        threads.emplace_back([&feed, i] {
            for (std::size_t number = 0; number < kEach; ++number) feed.push({i, number});
        });
    control.run();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(got, 3 * kEach);
}

}  // namespace control_feed_test
}  // namespace proxy::test
