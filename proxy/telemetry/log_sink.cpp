#include "proxy/telemetry/log_sink.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace proxy {
namespace {

constexpr int kLookMs = 100;

boost::system::error_code last() {
    return {errno, boost::system::system_category()};
}

/// O_NONBLOCK keeps open() from waiting for a FIFO's other end. It has no effect on disk files.
int open_for_append(const std::string& path) {
    constexpr int kFlags = O_APPEND | O_CLOEXEC | O_NONBLOCK;
    struct stat there {};
    if (::stat(path.c_str(), &there) == 0 && S_ISFIFO(there.st_mode))
        return ::open(path.c_str(), O_RDWR | kFlags);
    return ::open(path.c_str(), O_WRONLY | O_CREAT | kFlags, 0640);
}

/// Bytes that a ready pipe takes at once, also in blocking mode. A piece ends with a whole line if
/// one fits.
std::string_view first_part(std::string_view lines) {
    if (lines.size() <= PIPE_BUF) return lines;
    const auto end = lines.substr(0, PIPE_BUF).rfind('\n');
    return lines.substr(0, end == std::string_view::npos ? std::size_t{PIPE_BUF} : end + 1);
}

}  // namespace

LogSink::LogSink(const std::string& destination)
    : path_(destination == "stdout" || destination == "off" ? "" : destination) {
    if (!path_.empty())
        fd_ = open_for_append(path_);
    else if (destination == "stdout")
        fd_ = STDOUT_FILENO;
    if (fd_ < 0) {
        if (!path_.empty()) error_ = last();
        return;
    }
    struct stat what {};
    has_reader_ = ::fstat(fd_, &what) != 0 || !S_ISREG(what.st_mode);
}

LogSink::~LogSink() {
    if (!path_.empty() && fd_ >= 0) ::close(fd_);
}

LogSink::LogSink(LogSink&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      has_reader_(other.has_reader_),
      error_(other.error_) {}

LogSink& LogSink::operator=(LogSink&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(fd_, other.fd_);
    std::swap(has_reader_, other.has_reader_);
    std::swap(error_, other.error_);
    return *this;
}

std::string_view LogSink::write(std::string_view lines, const std::function<bool()>& gives_up) {
    while (!lines.empty()) {
        if (has_reader_) {
            pollfd ready{fd_, POLLOUT, 0};
            if (::poll(&ready, 1, kLookMs) == 0) {
                if (!gives_up()) continue;
                error_ = {ETIMEDOUT, boost::system::system_category()};
                return lines;
            }
        }
        const auto part = has_reader_ ? first_part(lines) : lines;
        const auto written = ::write(fd_, part.data(), part.size());
        if (written >= 0) {
            lines.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR && errno != EAGAIN) {
            error_ = last();
            return lines;
        }
    }
    return lines;
}

}  // namespace proxy
