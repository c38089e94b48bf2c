#include "proxy/node/control_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace proxy::test {
namespace control_queue_test {

KeyChange change(std::uint64_t number, bool stored = true) {
    return {{number, 0}, stored};
}

class ControlQueueTest : public ::testing::Test,
                         public ControlQueue::KeyHandler,
                         public ControlQueue::EventHandler {
protected:
    void keys_changed(std::span<const KeyChange> changes) override {
        for (const auto& each : changes) keys.push_back(each.key.low);
        largest = std::max(largest, changes.size());
        ++batches;
        if (on_keys) on_keys();
    }
    void happened(NodeEvent event) override {
        events.push_back(std::move(event));
        if (on_event) on_event();
    }
    void run() {
        control.restart();
        control.run();
    }

    boost::asio::io_context control{1};
    std::vector<std::uint64_t> keys;
    std::vector<NodeEvent> events;
    std::size_t largest = 0, batches = 0;
    std::function<void()> on_keys, on_event;
    ControlQueue queue{control, *this, *this};
};

TEST_F(ControlQueueTest, DeliversAllKeyChangesInOrderInBatchesWithTurnsForOthersInBetween) {
    std::size_t others = 0;
    on_keys = [&] { boost::asio::post(control, [&] { ++others; }); };
    constexpr std::size_t kMany = 10 * kPerTurn + 7;
    for (std::size_t i = 0; i < kMany; ++i) queue.push(change(i));
    EXPECT_EQ(queue.changes_pushed(), kMany);
    while (others < batches || batches == 0) {
        ASSERT_GT(control.run_one(), 0u);
        EXPECT_LE(batches, others + 2) << "others wait for more than a batch";
    }
    control.run();
    EXPECT_EQ(queue.changes_delivered(), kMany);
    EXPECT_EQ(largest, kPerTurn);
    EXPECT_EQ(batches, 11u);
    ASSERT_EQ(keys.size(), kMany);
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_EQ(keys[i], i);
}

TEST_F(ControlQueueTest, DeliversPushesOfADeliveryAfterIt) {
    on_keys = [&] {
        if (keys.back() < 3) queue.push(change(keys.back() + 1));
    };
    queue.push(change(0));
    run();
    EXPECT_EQ(keys, (std::vector<std::uint64_t>{0, 1, 2, 3}));
    queue.push(change(9));
    run();
    EXPECT_EQ(keys.back(), 9u);
}

TEST_F(ControlQueueTest, DeliversTheKeyChangesAfterTheFirstTogether) {
    queue.push(change(0));
    control.poll();
    EXPECT_EQ(keys.size(), 1u) << "the first waits for nothing";
    for (std::size_t i = 1; i < 4; ++i) {
        queue.push(change(i));
        control.poll();
    }
    EXPECT_EQ(batches, 1u);
    run();
    EXPECT_EQ(keys, (std::vector<std::uint64_t>{0, 1, 2, 3}));
    EXPECT_EQ(batches, 2u);
}

TEST_F(ControlQueueTest, WaitsForNoMoreKeyChangesWhenMany) {
    queue.push(change(0));
    control.poll();
    for (std::size_t i = 1; i <= kPerTurn; ++i) queue.push(change(i));
    control.poll();
    EXPECT_EQ(keys.size(), kPerTurn + 1);
}

TEST_F(ControlQueueTest, DeliversAnEventAtOnceWithTheKeyChangesThatWait) {
    queue.push(change(0));
    control.poll();
    queue.push(change(1));
    queue.push(DrainOrdered{});
    control.poll();
    EXPECT_EQ(events.size(), 1u);
    EXPECT_EQ(keys.size(), 2u);
}

TEST_F(ControlQueueTest, DeliversOneEventATurnAheadOfManyKeyChanges) {
    for (std::size_t i = 0; i < 3 * kPerTurn; ++i) queue.push(change(i));
    queue.push(DrainOrdered{});
    queue.push(StopOrdered{});
    on_event = [&] { EXPECT_EQ(batches, events.size() - 1); };
    run();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<DrainOrdered>(events[0]));
    EXPECT_TRUE(std::holds_alternative<StopOrdered>(events[1]));
    EXPECT_EQ(keys.size(), 3 * kPerTurn);
}

TEST_F(ControlQueueTest, JoinsInvalidationsThatWaitUpToALimit) {
    const auto invalidated = [](std::size_t count) {
        LocalInvalidation here;
        here.what.keys.resize(count);
        return here;
    };
    queue.push(invalidated(1));
    queue.push(invalidated(kPerTurn));
    queue.push(invalidated(2));
    queue.push(DrainOrdered{});
    queue.push(invalidated(3));
    run();
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(std::get<LocalInvalidation>(events[0]).what.keys.size(), 1 + kPerTurn);
    EXPECT_EQ(std::get<LocalInvalidation>(events[1]).what.keys.size(), 2u);
    EXPECT_EQ(std::get<LocalInvalidation>(events[3]).what.keys.size(), 3u);
}

TEST_F(ControlQueueTest, LosesOnlyTheEventWhoseHandlerThrows) {
    on_event = [&] {
        if (events.size() == 1) throw std::runtime_error("on purpose");
    };
    on_keys = [&] {
        if (batches == 1) throw std::runtime_error("on purpose");
    };
    queue.push(DrainOrdered{});
    queue.push(StopOrdered{});
    for (std::size_t i = 0; i < kPerTurn + 1; ++i) queue.push(change(i));
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_THROW(run(), std::runtime_error);
    run();
    EXPECT_EQ(events.size(), 2u);
    EXPECT_EQ(batches, 2u);
    EXPECT_EQ(queue.changes_delivered(), kPerTurn + 1);
}

TEST_F(ControlQueueTest, TakesKeyChangesFromManyThreads) {
    auto work = boost::asio::make_work_guard(control);
    constexpr std::uint64_t kEach = 20'000;
    on_keys = [&] {
        if (keys.size() == 3 * kEach) work.reset();
    };
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 3; ++i)
        threads.emplace_back([this, i] {
            for (std::uint64_t number = 0; number < kEach; ++number)
                queue.push(change(3 * number + i));
        });
    run();
    for (auto& thread : threads) thread.join();
    std::vector<std::uint64_t> next(3);  // of each thread
    for (const auto key : keys) ASSERT_EQ(key / 3, next[key % 3]++);
}

}  // namespace control_queue_test
}  // namespace proxy::test
