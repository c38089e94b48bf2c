#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/admin/node_status.hpp"
#include "proxy/config.hpp"

namespace proxy {

/// A whole hearsay node: workers, store, cluster links and admin server, wired up by hand. Workers
/// run on a thread each; links and admin share one control thread.
class Node {
public:
    /// Binds all ports. Throws std::exception with a sentence for the user when it cannot be run.
    explicit Node(Config config);
    ~Node();  // stop(), then waits
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// Starts the threads.
    void start();
    /// Any thread. Withdraws the summary, accepts no more, and ends when what runs has ended or the
    /// drain time is over.
    void drain();
    /// Any thread. Ends now.
    void stop();
    /// Waits until the node has ended.
    void join();
    /// Any thread. Opens the access log anew.
    void reopen_logs();

    /// Any thread but the node's own. For tests and the admin server alike.
    NodeStatus status();

    /// Ports in use, which matters when the configuration says 0.
    std::uint16_t proxy_port() const;
    std::uint16_t link_port() const;
    std::uint16_t admin_port() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// `hearsay run`: runs a node until TERM or INT has drained it (a second one stops it at once); HUP
/// is not handled yet and ignored, USR1 reopens the access log. Returns the exit code; prints why
/// on stderr when it cannot start.
int run_node(Config config);

}  // namespace proxy
