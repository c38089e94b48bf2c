#include "proxy/admin/access_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

namespace proxy {

namespace {

/// False when the system refuses; what is left is lost then.
bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {  // a pipe that somebody made non-blocking
            pollfd ready{fd, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

int open_for_append(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

}  // namespace

AccessLog::AccessLog(const LogConfig& config, std::size_t max_pending)
    : format_(config.format),
      path_(config.access == "stdout" ? "" : config.access),
      max_pending_(max_pending),
      enabled_(config.access != "off") {
    if (!enabled_) return;
    fd_ = path_.empty() ? STDOUT_FILENO : open_for_append(path_);
    if (fd_ < 0) {
        throw boost::system::system_error(errno, boost::system::system_category(),
                                          "access log " + path_);
    }
    thread_ = std::thread([this] { run(); });
}

AccessLog::~AccessLog() {
    if (!enabled_) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (!path_.empty()) ::close(fd_);
}

void AccessLog::write(const AccessRecord& record) {
    if (!enabled_) return;
    static thread_local std::string line;  // keeps its memory from one call to the next
    line.clear();
    append_access_line(line, format_, record);
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        if (pending_.size() + line.size() > max_pending_) {
            dropped_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        first = pending_.empty();
        pending_.append(line);
    }
    lines_.fetch_add(1, std::memory_order_relaxed);
    if (first) wake_.notify_one();
}

void AccessLog::reopen() {
    if (!enabled_ || path_.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        reopen_ = true;
        old_bytes_ = pending_.size();
    }
    wake_.notify_one();
}

void AccessLog::flush() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return pending_.empty() && !reopen_ && !writing_; });
}

void AccessLog::run() {
    std::string chunk;
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return !pending_.empty() || reopen_ || stop_; });
        if (pending_.empty() && !reopen_) return;
        std::swap(chunk, pending_);
        const bool reopen = std::exchange(reopen_, false);
        const auto old_bytes = reopen ? old_bytes_ : chunk.size();
        writing_ = true;
        lock.unlock();

        const auto lines = std::string_view(chunk);
        put(lines.substr(0, old_bytes));
        if (reopen) {
            open_file();
            put(lines.substr(old_bytes));
        }
        chunk.clear();

        lock.lock();
        writing_ = false;
        idle_.notify_all();
    }
}

void AccessLog::put(std::string_view lines) {
    if (!write_all(fd_, lines)) failures_.fetch_add(1, std::memory_order_relaxed);
}

void AccessLog::open_file() {
    const int fd = open_for_append(path_);
    if (fd < 0) {
        failures_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    ::close(fd_);
    fd_ = fd;
}

}  // namespace proxy
