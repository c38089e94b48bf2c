#pragma once

#include <cstdint>

namespace proxy {

/// The kernel's numbers of this process, by the names of Prometheus' own clients.
struct ProcessStatus {
    double cpu_seconds = 0;  // user and system, of all threads
    std::uint64_t resident_bytes = 0, virtual_bytes = 0;
    std::uint64_t open_fds = 0, max_fds = 0;  // descriptors; the soft limit
    double start_time = 0;                    // seconds since 1970
};

/// The present numbers; 0 for those that are unavailable. Reads /proc, which is memory.
ProcessStatus process_status();

}  // namespace proxy
