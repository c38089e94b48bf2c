#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "proxy/admin/node_status.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/telemetry/log_sink.hpp"

namespace proxy {

/// What was read for a reload, with the access log that it names opened.
struct ConfigRead : ConfigResult {
    LogSink access_log{};
    bool is_mounted_alone = false;  // see mounted_file.hpp
};

/// Carries out reloads of the configuration file, in the order they were asked for, and logs and
/// counts how they ended. The file is read on a thread of its own, as a disk may hang.
class Reloader {
public:
    static constexpr unsigned kMaxWaiting = 16;
    using Done = std::function<void(const Reloaded&)>;
    /// All on the control thread.
    struct Hooks {
        std::function<void()> begins;  // once for each that was asked for
        /// Puts what was read in effect as a whole, or says why not.
        std::function<Reloaded(ConfigRead)> apply;
        std::function<void()> ended;  // before whoever asked is told
    };

    /// `file`: absolute; empty for a node that was not started from a file.
    Reloader(boost::asio::io_context& control, std::filesystem::path file, Hooks hooks);

    /// Any thread. `who` stands in the log; `done` runs on the control thread, if that still runs.
    void reload(std::string who, Done done);
    /// Control thread. Of one that takes more than 10 s it says that it does; it goes on.
    boost::asio::awaitable<Reloaded> reload_and_wait(std::string who);

    /// Control thread.
    const ConfigStatus& status() const { return status_; }

private:
    ConfigRead read() const;
    Reloaded applied(ConfigRead read) const;
    void finish(const std::string& who, ConfigRead read, const Done& done);

    boost::asio::io_context& control_;
    const std::filesystem::path file_;
    const Hooks hooks_;
    ConfigStatus status_;
    std::atomic<unsigned> waiting_{0};
    boost::asio::thread_pool reader_{1};
};

}  // namespace proxy
