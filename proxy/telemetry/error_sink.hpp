#pragma once

#include <spdlog/sinks/sink.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "proxy/config/config.hpp"

namespace proxy {

/// Formats lines of the error log: `text` as spdlog does by default, with a local time; `json` as
/// an object with ts, level and text, which are as in the access log. One thread.
std::unique_ptr<spdlog::formatter> make_error_formatter(ErrorFormat format);

/// Writes the error log to standard error. A pipe or terminal whose reader is stuck would block
/// every thread, so a line that finds it full is left out. The first such line waits for kPatience.
/// The next written line has the number of missing ones. Any thread.
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
