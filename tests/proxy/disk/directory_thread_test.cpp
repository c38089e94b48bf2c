#include "proxy/disk/directory_thread.hpp"

#include <gtest/gtest.h>

#include <future>

namespace proxy {
namespace directory_thread_test {

using namespace std::chrono_literals;

TEST(DirectoryThread, CanBeAwaitedForAWhile) {
    std::promise<void> goes_on;
    DirectoryThread thread;
    EXPECT_FALSE(thread.was_started());
    thread.start([&] { goes_on.get_future().wait(); });
    EXPECT_TRUE(thread.was_started());
    EXPECT_FALSE(thread.ends_within(0s));
    goes_on.set_value();
    EXPECT_TRUE(thread.ends_within(60s));
    EXPECT_FALSE(thread.was_started());
}

TEST(DirectoryThread, SaysSinceWhenItIsBusy) {
    DirectoryThread thread;
    EXPECT_FALSE(thread.busy_since());
    const auto before = DirectoryThread::Clock::now();
    thread.works_on();
    ASSERT_TRUE(thread.busy_since());
    EXPECT_GE(*thread.busy_since(), before);
    thread.rests();
    EXPECT_FALSE(thread.busy_since());
}

}  // namespace directory_thread_test
}  // namespace proxy
