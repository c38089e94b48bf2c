#pragma once

#include <chrono>

namespace proxy {

/// The present time for HTTP dates. Deadlines and ages count on the steady clock.
inline std::chrono::sys_seconds wall_now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace proxy
