#pragma once

#include <chrono>
#include <cstdint>

namespace base {

/// The wall clock in milliseconds since 1970, as messages between nodes carry it. Any thread.
inline std::uint64_t wall_ms() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

}  // namespace base
