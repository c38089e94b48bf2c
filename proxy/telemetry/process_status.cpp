#include "proxy/telemetry/process_status.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace proxy {
namespace {

std::uint64_t number(const std::string& text) {
    std::uint64_t value = 0;
    std::istringstream(text) >> value;
    return value;
}

/// The fields of /proc/self/stat from the third on (proc_pid_stat(5)). The second is the name, with
/// arbitrary bytes.
std::vector<std::string> stat_fields() {
    std::ifstream in("/proc/self/stat");
    std::string line;
    std::getline(in, line);
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream rest(line.substr(name_end + 1));
    return {std::istream_iterator<std::string>(rest), {}};
}

/// Start of the machine, in seconds since 1970.
double boot_time() {
    std::ifstream in("/proc/stat");
    for (std::string word; in >> word;)
        if (double seconds = 0; word == "btime" && in >> seconds) return seconds;
    return 0;
}

/// Kernels since 6.2 have the number; for others the entries are counted.
std::uint64_t open_descriptors() {
    struct stat fds {};
    if (::stat("/proc/self/fd", &fds) == 0 && fds.st_size > 0)
        return static_cast<std::uint64_t>(fds.st_size);
    const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/fd"), ::closedir);
    std::uint64_t count = 0;
    while (all && ::readdir(all.get()) != nullptr) ++count;
    constexpr std::uint64_t kOthers = 3;  // `.`, `..`, and the one that reads
    return count > kOthers ? count - kOthers : 0;
}

}  // namespace

ProcessStatus process_status() {
    constexpr std::size_t kFirst = 3, kStartTime = 22, kVirtual = 23, kResident = 24;
    ProcessStatus status;
    rusage used{};
    if (::getrusage(RUSAGE_SELF, &used) == 0)
        for (const auto& time : {used.ru_utime, used.ru_stime})
            status.cpu_seconds +=
                static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    if (const auto fields = stat_fields(); fields.size() > kResident - kFirst) {
        static const auto boot = boot_time();
        const auto ticks = static_cast<double>(number(fields[kStartTime - kFirst]));
        if (boot > 0)
            status.start_time = boot + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
        status.virtual_bytes = number(fields[kVirtual - kFirst]);
        status.resident_bytes = number(fields[kResident - kFirst]) *
                                static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    }
    status.open_fds = open_descriptors();
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) status.max_fds = limit.rlim_cur;
    return status;
}

}  // namespace proxy
