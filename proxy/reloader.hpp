#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "proxy/admin/node_status.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/config/parse_config.hpp"

namespace proxy {

/// Carries out reloads of the configuration file, in the order they were asked for, and logs and
/// counts how they ended. The file is read on a thread of its own, as a disk may hang.
class Reloader {
public:
    static constexpr unsigned kMaxWaiting = 16;
    using Done = std::function<void(const Reloaded&)>;
    /// Puts what was read in effect as a whole, or says why not. On the control thread.
    using Apply = std::function<Reloaded(ConfigResult)>;

    /// `file`: absolute; empty for a node that was not started from a file.
    Reloader(boost::asio::io_context& control, std::filesystem::path file, Apply apply);

    /// Any thread. `who` stands in the log; `done` runs on the control thread, if that still runs.
    void reload(std::string who, Done done);

    /// Control thread.
    const ConfigStatus& status() const { return status_; }

private:
    ConfigResult read() const;
    void finish(const std::string& who, ConfigResult read, const Done& done);

    boost::asio::io_context& control_;
    const std::filesystem::path file_;
    Apply apply_;
    ConfigStatus status_;
    std::atomic<unsigned> waiting_{0};
    boost::asio::thread_pool reader_{1};
};

}  // namespace proxy
