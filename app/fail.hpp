#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace app {

/// Says on standard error why a command ends, and gives its exit code back.
template <typename... Args>
int fail(int code, fmt::format_string<Args...> format, Args&&... args) {
    fmt::print(stderr, "hearsay: {}\n", fmt::format(format, std::forward<Args>(args)...));
    return code;
}

}  // namespace app
