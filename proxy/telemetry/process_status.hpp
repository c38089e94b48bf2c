#pragma once

#include <cstdint>

namespace proxy {

/// What the kernel counts of this process, by the names that Prometheus' own clients give it.
struct ProcessStatus {
    double cpu_seconds = 0;  // user and system, of all threads
    std::uint64_t resident_bytes = 0, virtual_bytes = 0;
    std::uint64_t open_fds = 0, max_fds = 0;  // descriptors; the soft limit
    double start_time = 0;                    // seconds since 1970
};

/// As it is now; what cannot be had is 0. Reads /proc, which waits for no device.
ProcessStatus process_status();

}  // namespace proxy
