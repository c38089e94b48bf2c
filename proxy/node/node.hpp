#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "proxy/admin/node_status.hpp"
#include "proxy/config/loaded_config.hpp"
#include "proxy/node/blocked_signals.hpp"
#include "proxy/node/load_config.hpp"
#include "proxy/node/service_manager.hpp"
#include "proxy/telemetry/recent_errors.hpp"

namespace proxy {

/// A whole hearsay node: workers, store, cluster links and admin server. Each worker has a thread;
/// links and admin port share the control thread.
class Node {
public:
    /// Binds all ports. Throws std::exception with a sentence for the user. `file`: absolute path
    /// of the configuration; a node without one refuses reloads. `manager` gets the node's phases.
    /// `errors`: lines of the error log for the admin port, or null. `files`: those that the
    /// configuration names; without them the node reads them itself.
    explicit Node(LoadedConfig config, std::filesystem::path file = {}, ServiceManager manager = {},
                  std::shared_ptr<const RecentErrors> errors = nullptr,
                  std::optional<WatchedFiles> files = std::nullopt);
    ~Node();  // stop() and join()
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// The status shows these doubts about the configuration until the next reload. Before start().
    void note_warnings(const std::vector<ConfigError>& warnings);
    /// Starts the threads.
    void start();
    /// Drains the node: it withdraws the summary, becomes unready, and stops accepting after
    /// `timeouts.drain_grace`, in this order. It ends when its requests have ended, or when
    /// `timeouts.drain` is over. Any thread.
    void drain();
    /// Ends the node at once. Any thread.
    void stop();
    /// Waits for the end of the node.
    void join();
    /// After join(), where the process ends too: see Store::leave_memory().
    void leave_memory();
    /// Opens the access log again. Any thread.
    void reopen_logs();
    /// Reads the configuration file again. Puts it in effect as a whole, or refuses it as a whole
    /// and logs the reason. Requests keep the rules they began with. Any thread.
    void reload();

    /// Any thread but those of the node.
    NodeStatus status();

    /// The bound ports, for a configuration with port 0.
    std::uint16_t proxy_port() const;
    std::uint16_t link_port() const;
    std::uint16_t admin_port() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// `hearsay run`: runs a node. TERM or INT drains it, and a second one stops it at once. HUP
/// reloads the configuration from `file`, USR1 reopens the access log. `blocked` keeps the signals
/// until their handlers are in place. `loaded` has a configuration; its warnings are logged.
/// Returns the exit code, and logs the reason of a failed start.
int run_node(LoadResult loaded, const std::filesystem::path& file, BlockedSignals& blocked);

}  // namespace proxy
