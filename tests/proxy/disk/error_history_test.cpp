#include "proxy/disk/error_history.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace proxy {
namespace error_history_test {

using namespace std::chrono_literals;

constexpr FaultWindow::Clock::time_point kNow{1h};

TEST(FaultWindow, IsFullWithFiveInAMinute) {
    FaultWindow faults;
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(faults.note(kNow + i * 15s));
    EXPECT_TRUE(faults.note(kNow + 60s));
    EXPECT_TRUE(faults.note(kNow + 61s));
    faults.clear();
    EXPECT_FALSE(faults.note(kNow + 62s));
}

TEST(FaultWindow, ForgetsOlderFaults) {
    FaultWindow faults;
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(faults.note(kNow + i * 16s));
    EXPECT_FALSE(faults.note(kNow + 10'000s));
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(faults.note(kNow + 10'001s));
    EXPECT_TRUE(faults.note(kNow + 10'002s));
}

TEST(ErrorHistory, FailsByErrorsOfTheDiskAlone) {
    ErrorHistory errors("");
    for (std::size_t i = 0; i < 2 * FaultWindow::kFaults; ++i) {
        EXPECT_FALSE(errors.note(of_system(ENOSPC), "writing")) << "it is full";
        EXPECT_FALSE(errors.note(DiskError::bad_checksum, "reading"));
    }
    for (std::size_t i = 1; i < FaultWindow::kFaults; ++i)
        EXPECT_FALSE(errors.note(of_system(EIO), "writing"));
    EXPECT_FALSE(errors.is_failing());
    EXPECT_TRUE(errors.note(of_system(EIO), "writing"));
    EXPECT_TRUE(errors.is_failing());
    errors.forgive();
    EXPECT_FALSE(errors.is_failing());
    EXPECT_TRUE(errors.note(of_system(ENOENT), "writing")) << "the directory is gone";
}

TEST(ErrorHistory, ShowsTheLastError) {
    ErrorHistory errors("absent at the start");
    DiskStatus status;
    errors.show(status);
    EXPECT_EQ(status.last_error, "absent at the start");
    errors.note(of_system(ENOSPC), "writing");
    errors.show(status);
    EXPECT_EQ(status.last_error, "writing: No space left on device");
    EXPECT_TRUE(status.last_error_is_full);
    EXPECT_LT(status.last_error_seconds, 60);
}

}  // namespace error_history_test
}  // namespace proxy
