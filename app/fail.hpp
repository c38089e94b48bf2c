#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace app {

/// Reports on standard error why a command ends, and returns its exit code.
template <typename... Args>
int fail(int code, fmt::format_string<Args...> format, Args&&... args) {
    fmt::print(stderr, "hearsay: {}\n", fmt::format(format, std::forward<Args>(args)...));
    return code;
}

}  // namespace app
