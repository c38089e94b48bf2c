#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace measure {

/// Exit code and output of a command.
struct Ended {
    int code = -1;
    std::string out, error;
};

template <typename Command>
Ended captured(Command&& command) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Ended ended;
    ended.code = command();
    std::fflush(stdout);
    ended.out = testing::internal::GetCapturedStdout();
    ended.error = testing::internal::GetCapturedStderr();
    return ended;
}

}  // namespace measure
