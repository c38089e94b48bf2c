#include "proxy/telemetry/access_log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

namespace proxy {

AccessLog::AccessLog(const LogConfig& config, std::size_t max_pending)
    : max_pending_(max_pending), settings_(Settings(config)), sink_(config.access) {
    if (!enabled()) return;
    if (!sink_.open()) {
        throw boost::system::system_error(sink_.error(), "access log " + sink_.path());
    }
    thread_ = std::thread([this] { run(); });
}

AccessLog::~AccessLog() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        hurry();
    }
    wake_.notify_one();
    thread_.join();
}

void AccessLog::write(const AccessRecord& record) {
    const auto settings = in_effect();
    if (!settings.enabled || (record.request.role == Role::peer && !settings.peers)) return;
    static thread_local std::string line;  // reuses its memory
    line.clear();
    append_access_line(line, settings.format, record);
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        const auto now = in_effect();
        if (!now.enabled) return;
        if (now.format != settings.format) {
            line.clear();
            append_access_line(line, now.format, record);
        }
        if (pending_.size() + line.size() > max_pending_) {
            dropped_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        first = pending_.empty();
        pending_.append(line);
    }
    if (first) wake_.notify_one();
}

void AccessLog::hurry() {
    if (give_up_.load() == Clock::time_point::max()) give_up_ = Clock::now() + kPatience;
}

void AccessLog::reopen(Reopened done) {
    std::unique_lock lock(mutex_);
    if (!enabled()) {
        lock.unlock();
        spdlog::info("log.access is off: no file is to be opened anew");
        if (done) done({});
        return;
    }
    hurry();
    if (!changes_.empty() && !changes_.back().sink)
        changes_.back().at = pending_.size();
    else
        changes_.push_back({pending_.size(), std::nullopt});
    if (done) changes_.back().waiters.push_back(std::move(done));
    lock.unlock();
    wake_.notify_one();
}

boost::system::error_code AccessLog::reconfigure(const LogConfig& config, LogSink opened) {
    const Settings settings(config);
    if (settings.enabled && !opened.open()) return opened.error();
    {
        const std::lock_guard lock(mutex_);
        if (!settings.enabled && !thread_.joinable()) return {};  // off as before
        if (changes_.size() >= kMaxChanges)
            return boost::system::errc::make_error_code(
                boost::system::errc::resource_unavailable_try_again);
        changes_.push_back({pending_.size(), std::move(opened)});
        hurry();
        settings_ = settings;
        if (settings.enabled && !thread_.joinable()) thread_ = std::thread([this] { run(); });
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
        if (changes_.empty() && !stop_) give_up_ = Clock::time_point::max();
        idle_.notify_all();
    }
}

void AccessLog::put(std::string_view lines) {
    const auto lost = sink_.write(lines, [this] { return Clock::now() >= give_up_.load(); });
    if (lost.empty()) return;
    failed_.fetch_add(static_cast<std::uint64_t>(std::count(lost.begin(), lost.end(), '\n')),
                      std::memory_order_relaxed);
    log_trouble("lines are lost, as it cannot be written", sink_.path(), sink_.error());
}

void AccessLog::make(Change& change) {
    if (change.sink) {
        std::swap(sink_, *change.sink);  // the old one goes with the change
        return;
    }
    const auto why_not = open_anew();
    for (const auto& each : change.waiters) each(why_not);
}

std::string AccessLog::open_anew() {
    if (sink_.path().empty()) {
        spdlog::info("log.access is stdout: no file is to be opened anew");
        return {};
    }
    constexpr const char* kFailed = "cannot be opened anew; the old file stays in use";
    LogSink next(sink_.path());
    if (!next.open()) {
        log_trouble(kFailed, sink_.path(), next.error());
        return "access log " + sink_.path() + ": " + kFailed + ": " + next.error().message();
    }
    spdlog::info("access log {}: opened anew", sink_.path());
    std::swap(sink_, next);  // the old one goes with `next`
    return {};
}

void AccessLog::log_trouble(const char* what, const std::string& path,
                            const boost::system::error_code& error) {
    if (const auto more = trouble_.admit(what, Clock::now()))
        spdlog::error("access log {}: {}: {}{}", path.empty() ? "stdout" : path, what,
                      error.message(), *more);
}

}  // namespace proxy
