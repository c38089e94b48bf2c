#pragma once

#include <spdlog/sinks/sink.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace proxy {

/// The error log's way to standard error, which may be a pipe, or a terminal, that takes nothing:
/// then all threads would wait for its reader. What cannot be written at once, or after kPatience
/// when it is the first, is left out; the next line that can be says how many were. Any thread.
class ErrorSink final : public spdlog::sinks::sink {
public:
    static constexpr int kPatienceMs = 100;

    /// `to` writes to `descriptor`.
    ErrorSink(std::shared_ptr<spdlog::sinks::sink> to, int descriptor);

    void log(const spdlog::details::log_msg& message) override;
    void flush() override;
    void set_pattern(const std::string& pattern) override;
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override;

private:
    bool takes() const;

    const std::shared_ptr<spdlog::sinks::sink> to_;
    const int descriptor_;
    const bool may_block_;
    std::mutex mutex_;
    std::uint64_t left_out_ = 0;
};

}  // namespace proxy
