#pragma once

#include <spdlog/sinks/sink.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// The last kLines lines of the error log of level warn and above. Longer lines are cut at
/// kLineBytes. It takes kLines * (kLineBytes + 32) bytes, about 106 KB, at its construction, and no
/// memory afterwards. Any thread; a line costs a lock and a copy.
class RecentErrors {
public:
    static constexpr std::size_t kLines = 200;
    static constexpr std::size_t kLineBytes = 500;

    struct Line {
        std::chrono::system_clock::time_point at;
        bool is_error = false;  // else a warning
        std::string text;       // ends with `...` if it was cut
    };

    void note(std::chrono::system_clock::time_point at, bool is_error, std::string_view text);
    /// Newest first.
    std::vector<Line> lines() const;

private:
    struct ErrorLine {
        std::chrono::system_clock::time_point at;
        bool is_error = false;
        std::uint16_t bytes = 0;
        std::array<char, kLineBytes> text;
    };

    mutable std::mutex mutex_;
    std::vector<ErrorLine> lines_ = std::vector<ErrorLine>(kLines);
    std::uint64_t noted_ = 0;  // in all
};

/// A sink of the error log that notes its warnings and errors.
class RecentErrorsSink final : public spdlog::sinks::sink {
public:
    explicit RecentErrorsSink(std::shared_ptr<RecentErrors> lines);

    void log(const spdlog::details::log_msg& message) override;
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

private:
    std::shared_ptr<RecentErrors> lines_;
};

}  // namespace proxy
