#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

#include "app/exit_codes.hpp"
#include "base/text/plain_message.hpp"

namespace app {

/// Reports on standard error why a command ends, and returns its exit code.
template <typename... Args>
int fail(int code, fmt::format_string<Args...> format, Args&&... args) {
    fmt::print(stderr, "hearsay: {}\n", fmt::format(format, std::forward<Args>(args)...));
    return code;
}

/// Runs a command, and reports what it throws.
template <typename Act>
int reported(const Act& act) {
    try {
        return act();
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::exception& error) {
        return fail(kFailed, "{}", base::plain_message(error));
    }
}

}  // namespace app
