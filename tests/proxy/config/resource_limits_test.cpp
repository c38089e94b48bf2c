#include "proxy/config/resource_limits.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace proxy {
namespace resource_limits_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

/// A machine's /proc and /sys, as far as they tell of control groups.
class ResourceLimitsTest : public testing::Test {
protected:
    ~ResourceLimitsTest() override { fs::remove_all(root_); }

    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text << '\n';
    }
    ResourceLimits limits() const { return resource_limits(root_); }

    const fs::path root_ =
        fs::path(testing::TempDir()) / ("hearsay_cgroup_" + std::to_string(::getpid()));
};

TEST_F(ResourceLimitsTest, AreNoneWhereNobodySetsAny) {
    EXPECT_FALSE(limits().memory);
    EXPECT_FALSE(limits().cpus);
    write("proc/self/cgroup", "0::/user.slice");
    write("sys/fs/cgroup/user.slice/memory.max", "max");
    write("sys/fs/cgroup/user.slice/cpu.max", "max 100000");
    EXPECT_FALSE(limits().memory);
    EXPECT_FALSE(limits().cpus);
}

TEST_F(ResourceLimitsTest, AreThoseOfAServiceAndOfAllAroundIt) {
    write("proc/self/cgroup", "0::/system.slice/hearsay.service");
    write("sys/fs/cgroup/system.slice/hearsay.service/memory.max", "1073741824");
    write("sys/fs/cgroup/system.slice/hearsay.service/cpu.max", "150000 100000");
    EXPECT_EQ(limits().memory, 1073741824u);
    EXPECT_EQ(limits().cpus, 1.5);
    write("sys/fs/cgroup/system.slice/memory.max", "536870912");
    write("sys/fs/cgroup/system.slice/cpu.max", "400000 100000");
    EXPECT_EQ(limits().memory, 536870912u);
    EXPECT_EQ(limits().cpus, 1.5);
}

TEST_F(ResourceLimitsTest, AreThoseOfAContainer) {
    write("proc/self/cgroup", "0::/");
    write("sys/fs/cgroup/memory.max", "268435456");
    EXPECT_EQ(limits().memory, 268435456u);
}

TEST_F(ResourceLimitsTest, AreThoseOfVersionOne) {
    write(
        "proc/self/cgroup",
        "12:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n3:cpuset:/docker/abc\n1:name=systemd:/");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456");  // all the container sees
    write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "200000");
    write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000");
    EXPECT_EQ(limits().memory, 268435456u);
    EXPECT_EQ(limits().cpus, 2.0);
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1");
    EXPECT_FALSE(limits().memory);
    EXPECT_FALSE(limits().cpus);
}

TEST(ResourceDoubts, NameWhatIsBeyondTheLimits) {
    Config config;
    config.cache.memory = 512 << 20;
    config.limits.body_windows = 128 << 20;
    config.workers = 2;
    EXPECT_THAT(beyond({}, config), IsEmpty());
    EXPECT_THAT(beyond({640 << 20, 1.5}, config), IsEmpty());
    const auto found = beyond({(640 << 20) - 1, 1.0}, config);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].path, "$.cache.memory");
    EXPECT_THAT(found[0].message, HasSubstr("640MiB together"));
    EXPECT_EQ(found[1].path, "$.workers");
    EXPECT_THAT(found[1].message, HasSubstr("are 2, and this process may use 1 CPU:"));
    EXPECT_THAT(beyond({{}, 0.25}, config)[0].message, HasSubstr("may use 0.25 CPUs"));
}

}  // namespace resource_limits_test
}  // namespace proxy
