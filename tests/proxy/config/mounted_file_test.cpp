#include "proxy/config/mounted_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace proxy {
namespace mounted_file_test {

namespace fs = std::filesystem;

class MountedFile : public testing::Test {
protected:
    MountedFile() {
        fs::create_directories(folder_);
        std::ofstream(file_) << "{}";
    }
    ~MountedFile() override { fs::remove_all(folder_); }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / ("hearsay_mounted_" + std::to_string(::getpid()));
    const fs::path file_ = folder_ / "hearsay.json";
};

TEST_F(MountedFile, IsReplacedWhenAnotherHasItsName) {
    EXPECT_FALSE(was_replaced(file_));
    EXPECT_FALSE(was_replaced(folder_ / "not there"));
    const int held = ::open(file_.c_str(), O_RDONLY);  // leads to the file as a mount does
    const auto by_mount = fs::path("/proc/self/fd") / std::to_string(held);
    EXPECT_FALSE(was_replaced(by_mount));
    std::ofstream(file_, std::ios::app) << " ";
    EXPECT_FALSE(was_replaced(by_mount)) << "written in place";
    std::ofstream(folder_ / "other") << "{}";
    fs::rename(folder_ / "other", file_);
    EXPECT_TRUE(was_replaced(by_mount));
    EXPECT_FALSE(was_replaced(file_));
    ::close(held);
}

TEST_F(MountedFile, IsToldFromOneInAMountedFolder) {
    EXPECT_FALSE(is_mounted_alone(file_));
    EXPECT_FALSE(is_mounted_alone(folder_ / "not there"));
    const auto child = ::fork();
    if (child == 0) {
        constexpr int kMayNot = 77;
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount(folder_.c_str(), folder_.c_str(), nullptr, MS_BIND, nullptr) != 0)
            ::_exit(kMayNot);
        const bool folder = is_mounted_alone(file_);
        if (::mount(file_.c_str(), file_.c_str(), nullptr, MS_BIND, nullptr) != 0) ::_exit(kMayNot);
        ::_exit(!folder && is_mounted_alone(file_) ? 0 : 1);
    }
    int ended = 0;
    ASSERT_EQ(::waitpid(child, &ended, 0), child);
    if (WEXITSTATUS(ended) == 77) GTEST_SKIP() << "this user may not mount";
    EXPECT_EQ(WEXITSTATUS(ended), 0);
}

}  // namespace mounted_file_test
}  // namespace proxy
