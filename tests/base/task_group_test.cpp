#include "base/async/task_group.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "tests/base/coroutine.hpp"

namespace base::test {
namespace task_group_test {

namespace asio = boost::asio;

awaitable<void> endless(std::shared_ptr<int> alive) {
    asio::steady_timer timer(co_await asio::this_coro::executor, Clock::time_point::max());
    for (;;) co_await timer.async_wait(asio::use_awaitable);
    static_cast<void>(alive);
}

awaitable<void> count(int& counter) {
    ++counter;
    co_return;
}

awaitable<void> waits_for(TaskGroup& tasks, bool& over) {
    co_await tasks.wait();
    over = true;
}

awaitable<void> cancels(TaskGroup& tasks, std::size_t& left) {
    tasks.cancel();
    left = tasks.size();
    co_return;
}

awaitable<void> throws() {
    throw std::runtime_error("a bug");
    co_return;
}

class TaskGroupTest : public ::testing::Test {
protected:
    void turn() {
        io->restart();
        io->poll();
    }
    long running() const { return alive.use_count() - 1; }

    std::optional<asio::io_context> io{std::in_place};
    std::optional<TaskGroup> tasks{io->get_executor()};
    std::shared_ptr<int> alive = std::make_shared<int>();
};

TEST_F(TaskGroupTest, RunsWhatItIsGiven) {
    int counter = 0;
    EXPECT_TRUE(tasks->spawn(count(counter)));
    EXPECT_TRUE(tasks->spawn(count(counter)));
    EXPECT_EQ(tasks->size(), 2U);
    turn();
    EXPECT_EQ(counter, 2);
    EXPECT_EQ(tasks->size(), 0U);
}

TEST_F(TaskGroupTest, ClosedItTakesNoMoreButLetsTheOthersGoOn) {
    int counter = 0;
    tasks->spawn(endless(alive));
    tasks->close();
    EXPECT_FALSE(tasks->spawn(count(counter)));
    turn();
    EXPECT_EQ(counter, 0);
    EXPECT_EQ(running(), 1);
    tasks->cancel();
    turn();
}

TEST_F(TaskGroupTest, CancelEndsAllAndCloses) {
    for (int i = 0; i < 3; ++i) tasks->spawn(endless(alive));
    turn();
    EXPECT_EQ(running(), 3);
    tasks->cancel();
    turn();
    EXPECT_EQ(running(), 0);
    EXPECT_EQ(tasks->size(), 0U);
    EXPECT_FALSE(tasks->spawn(endless(alive)));
    EXPECT_EQ(running(), 0);
}

TEST_F(TaskGroupTest, CancelBeforeATaskHasBegunEndsItToo) {
    tasks->spawn(endless(alive));
    tasks->cancel();
    turn();
    EXPECT_EQ(running(), 0);
}

TEST_F(TaskGroupTest, ATaskMayCancelItsOwnGroup) {
    std::size_t left = 99;
    tasks->spawn(endless(alive));
    tasks->spawn(cancels(*tasks, left));
    tasks->spawn(endless(alive));
    turn();
    EXPECT_EQ(running(), 0);
    EXPECT_EQ(tasks->size(), 0U);
    EXPECT_LE(left, 3U);
}

TEST_F(TaskGroupTest, ATaskThatNeverWaitsMayCancelItself) {
    std::size_t left = 99;
    tasks->spawn(cancels(*tasks, left));
    turn();
    EXPECT_EQ(left, 1U);
    EXPECT_EQ(tasks->size(), 0U);
}

TEST_F(TaskGroupTest, WaitReturnsWhenTheLastTaskHasEndedForEachWhoWaits) {
    bool first = false, second = false;
    tasks->spawn(endless(alive));
    TaskGroup waiters(io->get_executor());
    waiters.spawn(waits_for(*tasks, first));
    waiters.spawn(waits_for(*tasks, second));
    turn();
    EXPECT_FALSE(first || second);
    tasks->cancel();
    turn();
    EXPECT_TRUE(first && second);
}

TEST_F(TaskGroupTest, WaitReturnsAtOnceWhenThereIsNothingToWaitFor) {
    bool over = false;
    TaskGroup waiters(io->get_executor());
    waiters.spawn(waits_for(*tasks, over));
    turn();
    EXPECT_TRUE(over);
}

TEST_F(TaskGroupTest, AnExceptionThatIsABugLeavesTheLoop) {
    tasks->spawn(throws());
    EXPECT_THROW(turn(), std::runtime_error);
    EXPECT_EQ(tasks->size(), 0U);
}

TEST_F(TaskGroupTest, TasksGoOnWhenTheGroupIsDestroyed) {
    int counter = 0;
    tasks->spawn(endless(alive));
    tasks->spawn(count(counter));
    tasks.reset();
    turn();
    EXPECT_EQ(counter, 1);
    EXPECT_EQ(running(), 1);
    io.reset();  // ends the rest
    EXPECT_EQ(running(), 0);
}

TEST_F(TaskGroupTest, MayOutliveItsLoop) {
    tasks->spawn(endless(alive));
    turn();
    io.reset();
    EXPECT_EQ(running(), 0);
    tasks.reset();
}

}  // namespace task_group_test
}  // namespace base::test
