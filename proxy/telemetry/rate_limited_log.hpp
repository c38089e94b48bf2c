#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// Keeps what may happen with every request from filling the log: one line about each subject in
/// kPause, kLinesAtMost about all together. The others are counted, and the next line says how many
/// there were. One thread.
class RateLimitedLog {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kPause{10};
    static constexpr unsigned kLinesAtMost = 20;
    static constexpr std::size_t kMaxSubjects =
        256;  // then those that may be logged again are forgotten

    /// What to append to a line about `subject` (empty, or ` (7 more were not logged)`); nothing
    /// when it is not to be written.
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
