#include "proxy/telemetry/access_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <algorithm>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <utility>

namespace proxy {

namespace {

/// What is left when the system refuses (see errno); nothing when all is written.
std::string_view write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {  // a pipe that somebody made non-blocking
            pollfd ready{fd, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return text;
        }
    }
    return text;
}

int open_for_append(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

}  // namespace

AccessLog::Sink::Sink(const std::string& destination)
    : path_(destination == "stdout" || destination == "off" ? "" : destination) {
    if (!path_.empty())
        fd_ = open_for_append(path_);
    else if (destination == "stdout")
        fd_ = STDOUT_FILENO;
}

AccessLog::Sink::~Sink() {
    if (!path_.empty() && fd_ >= 0) ::close(fd_);
}

AccessLog::AccessLog(const LogConfig& config, std::size_t max_pending)
    : max_pending_(max_pending),
      enabled_(config.access != "off"),
      format_(config.format),
      peers_(config.peers),
      sink_(config.access) {
    if (!enabled()) return;
    if (!sink_.open()) {
        throw boost::system::system_error(errno, boost::system::system_category(),
                                          "access log " + sink_.path());
    }
    thread_ = std::thread([this] { run(); });
}

AccessLog::~AccessLog() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void AccessLog::write(const AccessRecord& record) {
    if (!enabled()) return;
    if (record.role == Role::peer && !peers_.load(std::memory_order_relaxed)) return;
    static thread_local std::string line;  // keeps its memory from one call to the next
    line.clear();
    const auto format = format_.load(std::memory_order_relaxed);
    append_access_line(line, format, record);
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        if (!enabled()) return;
        if (const auto now = format_.load(std::memory_order_relaxed); now != format) {
            line.clear();
            append_access_line(line, now, record);
        }
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
    {
        const std::lock_guard lock(mutex_);
        if (!enabled()) return;
        if (!changes_.empty() && !changes_.back().sink)
            changes_.back().at = pending_.size();
        else
            changes_.push_back({pending_.size(), std::nullopt});
    }
    wake_.notify_one();
}

boost::system::error_code AccessLog::reconfigure(const LogConfig& config) {
    const auto enabled = config.access != "off";
    Sink sink(config.access);
    if (enabled && !sink.open()) return {errno, boost::system::system_category()};
    {
        const std::lock_guard lock(mutex_);
        if (!enabled && !thread_.joinable()) return {};  // off as before
        if (changes_.size() >= kMaxChanges)
            return boost::system::errc::make_error_code(
                boost::system::errc::resource_unavailable_try_again);
        changes_.push_back({pending_.size(), std::move(sink)});
        enabled_ = enabled;
        format_ = config.format;
        peers_ = config.peers;
        if (enabled && !thread_.joinable()) thread_ = std::thread([this] { run(); });
    }
    wake_.notify_one();
    return {};
}

void AccessLog::flush() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return pending_.empty() && changes_.empty() && !writing_; });
}

void AccessLog::run() {
    std::string chunk;
    std::vector<Change> changes;
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return !pending_.empty() || !changes_.empty() || stop_; });
        if (pending_.empty() && changes_.empty()) return;
        std::swap(chunk, pending_);
        std::swap(changes, changes_);
        writing_ = true;
        lock.unlock();

        const auto lines = std::string_view(chunk);
        std::size_t written = 0;
        for (auto& change : changes) {
            put(lines.substr(written, change.at - written));
            written = change.at;
            make(change);
        }
        put(lines.substr(written));
        chunk.clear();
        changes.clear();

        lock.lock();
        writing_ = false;
        idle_.notify_all();
    }
}

void AccessLog::put(std::string_view lines) {
    const auto lost = write_all(sink_.fd(), lines);
    if (lost.empty()) return;
    const auto error = errno;
    failed_.fetch_add(static_cast<std::uint64_t>(std::count(lost.begin(), lost.end(), '\n')),
                      std::memory_order_relaxed);
    tell("lines are lost, as it cannot be written", sink_.path(), error);
}

void AccessLog::make(Change& change) {
    if (!change.sink && sink_.path().empty()) return;
    Sink next = change.sink ? std::move(*change.sink) : Sink(sink_.path());
    if (!change.sink && !next.open())
        tell("cannot be opened anew; the old file stays in use", sink_.path(), errno);
    else
        sink_ = std::move(next);  // the old one goes with `next`
}

void AccessLog::tell(const char* what, const std::string& path, int error) {
    if (const auto more = trouble_.admit(what, std::chrono::steady_clock::now()))
        spdlog::error("access log {}: {}: {}{}", path.empty() ? "stdout" : path, what,
                      boost::system::system_category().message(error), *more);
}

}  // namespace proxy
