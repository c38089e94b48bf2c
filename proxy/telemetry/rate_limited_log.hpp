#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// Limits log lines about events that may come with every request: one line per subject in kPause,
/// and kLinesAtMost about all subjects. It counts the omitted lines, and the next line has their
/// number. One thread.
class RateLimitedLog {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kPause{10};
    static constexpr unsigned kLinesAtMost = 20;
    static constexpr std::size_t kMaxSubjects = 256;  // more make it forget those with a free line

    /// Returns the text to append to a line about `subject`: empty, or ` (7 more were not logged)`.
    /// Returns nullopt if the line is to be omitted.
    std::optional<std::string> admit(std::string_view subject, Time now);

private:
    struct Subject {
        Time quiet_until{};
        std::uint64_t left_out = 0;
    };
    std::map<std::string, Subject, std::less<>> subjects_;
    Time round_ends_{};
    unsigned lines_ = 0;          // in this round
    std::uint64_t left_out_ = 0;  // above kLinesAtMost, about any subject
};

}  // namespace proxy
