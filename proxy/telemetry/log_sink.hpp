#pragma once

#include <boost/system/error_code.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace proxy {

/// The destination of log lines: standard output or a file, which the sink owns. A FIFO is opened
/// for both ends, so opening is independent of its readers. Writing waits for a reader as long as
/// the caller wants. One thread at a time.
class LogSink {
public:
    LogSink() = default;
    /// `destination` as in the configuration; appends to a file. The sink stays closed for `off`,
    /// and after a failure, which error() has.
    explicit LogSink(const std::string& destination);
    ~LogSink();
    LogSink(LogSink&& other) noexcept;
    LogSink& operator=(LogSink&& other) noexcept;

    bool open() const { return fd_ >= 0; }
    boost::system::error_code error() const { return error_; }
    /// Empty for standard output and for `off`.
    const std::string& path() const { return path_; }

    /// Writes `lines`. Returns the part that the system has refused, with the reason in error().
    /// While a pipe, a socket or a terminal is full, calls `gives_up` ten times a second; true
    /// counts as a refusal of the rest.
    std::string_view write(std::string_view lines, const std::function<bool()>& gives_up);

private:
    std::string path_;
    int fd_ = -1;
    bool has_reader_ = false;  // a pipe, socket or terminal, whose reader may be slow
    boost::system::error_code error_;
};

}  // namespace proxy
