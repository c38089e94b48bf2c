#pragma once

#include <boost/system/error_code.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace proxy {

/// Where log lines go: standard output or a file, which this owns. Opening never waits for whoever
/// reads: a FIFO is opened for both ends, so it is there before its readers and between them.
/// Writing waits for them as long as the caller wants. One thread at a time.
class LogSink {
public:
    LogSink() = default;
    /// `destination` as in the configuration; of a file what is written is appended. Not open when
    /// that fails, which error() tells, or for off.
    explicit LogSink(const std::string& destination);
    ~LogSink();
    LogSink(LogSink&& other) noexcept;
    LogSink& operator=(LogSink&& other) noexcept;

    bool open() const { return fd_ >= 0; }
    boost::system::error_code error() const { return error_; }
    /// Empty: standard output, or none.
    const std::string& path() const { return path_; }

    /// Writes `lines`, and returns what the system refused, which error() tells: nothing as a rule.
    /// Where a pipe, a socket or a terminal takes nothing, `gives_up` is asked ten times a second;
    /// once it says so the rest is refused, too.
    std::string_view write(std::string_view lines, const std::function<bool()>& gives_up);

private:
    std::string path_;
    int fd_ = -1;
    bool has_reader_ = false;  // somebody who may be slow: it is no file on a disk
    boost::system::error_code error_;
};

}  // namespace proxy
