#pragma once

#include <chrono>

#include "proxy/http/http_date.hpp"

namespace proxy {

/// The present time for HTTP dates. Deadlines and ages count on the steady clock.
inline WallTime wall_now() {
    return std::chrono::floor<WallTime::duration>(std::chrono::system_clock::now());
}

}  // namespace proxy
