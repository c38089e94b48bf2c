#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>

#include "proxy/node/node_parts.hpp"

namespace proxy {

/// The steps of a drain: peers stop asking; load balancers see that the node is not ready and still
/// get answers for `timeouts.drain_grace`; then the node takes no more connections. Control thread.
class Drain {
public:
    /// The parts outlive this object.
    explicit Drain(const NodeParts& node)
        : node_(node), limit_(node.control), grace_(node.control) {}

    /// Begins. Calls `cut` when `timeouts.drain` is over. No reload replaces the cluster from now
    /// on.
    void begin(std::function<void()> cut);
    /// The node ends, so no further step follows.
    void end();

private:
    boost::asio::awaitable<void> leave();

    const NodeParts node_;
    boost::asio::steady_timer limit_, grace_;
    bool ended_ = false;
};

}  // namespace proxy
