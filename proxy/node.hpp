#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "proxy/admin/node_status.hpp"
#include "proxy/config/config.hpp"
#include "proxy/service_manager.hpp"
#include "proxy/signals_held.hpp"

namespace proxy {

/// A whole hearsay node: workers, store, cluster links and admin server, wired up by hand. Workers
/// run on a thread each; links and admin share one control thread.
class Node {
public:
    /// Binds all ports. Throws std::exception with a sentence for the user when it cannot be run.
    /// `file`: where the configuration was read from, absolute; empty: it cannot be reloaded.
    /// `manager` is told what the node does.
    explicit Node(Config config, std::filesystem::path file = {}, ServiceManager manager = {});
    ~Node();  // stop(), then waits
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// Starts the threads.
    void start();
    /// Any thread. Withdraws the summary, is no longer ready, accepts no more once
    /// `timeouts.drain_grace` is over, in this order, and ends when what runs has ended or the
    /// drain time is over.
    void drain();
    /// Any thread. Ends now.
    void stop();
    /// Waits until the node has ended.
    void join();
    /// Any thread. Opens the access log anew.
    void reopen_logs();
    /// Any thread. Reads the configuration's file again and puts it in effect as a whole, or logs
    /// why not: nothing has changed then. Requests at hand keep the rules they began with.
    void reload();

    /// Any thread but the node's own. For tests and the admin server alike.
    NodeStatus status();

    /// The ports that were bound, as the configuration may say 0.
    std::uint16_t proxy_port() const;
    std::uint16_t link_port() const;
    std::uint16_t admin_port() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// `hearsay run`: runs a node until TERM or INT has drained it (a second one stops it at once); HUP
/// reloads the configuration from `file`, USR1 reopens the access log. Returns the exit code;
/// prints why on stderr when it cannot start. `held`: signals that come before their handlers are
/// in place. `warnings` about the configuration are logged.
int run_node(Config config, const std::filesystem::path& file, SignalsHeld& held,
             const std::vector<ConfigError>& warnings = {});

}  // namespace proxy
