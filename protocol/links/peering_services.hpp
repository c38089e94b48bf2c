#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

#include "base/async/deadline.hpp"
#include "base/async/task_group.hpp"
#include "base/net/dialer.hpp"
#include "base/net/resolver.hpp"
#include "base/tls/psk_context.hpp"
#include "protocol/links/cluster_hooks.hpp"
#include "protocol/links/link_log.hpp"
#include "protocol/links/peering.hpp"
#include "protocol/membership/dial_permits.hpp"

namespace protocol {

/// The state of all links, and the services that they use. Outlives all links. Control thread only.
struct PeeringServices : Peering {
    PeeringServices(boost::asio::any_io_executor on, PeeringConfig configuration,
                    ClusterHooks hooks);

    boost::asio::any_io_executor executor;
    std::unique_ptr<const base::PskContext> psk;  // null without cluster keys
    base::Resolver resolver;
    base::Dialer dialer;
    DialPermits dial_permits;
    LinkLog log;
    ClusterHooks hooks;
    base::TaskGroup tasks;
    std::weak_ptr<void> owner;  // set when the links begin to run

    /// Called when the publisher or the neighbourhood has work in slices. May be empty.
    std::function<void()> plan_work;

    /// Guards posted handlers, which may run after the end.
    std::shared_ptr<PeeringServices*> anchor = std::make_shared<PeeringServices*>(this);
    bool view_is_planned = false;

    /// Runs `task`, which keeps the owner of the links alive.
    void spawn(base::awaitable<void> task);
    /// Hands out the view if it has changed.
    void show_view();
    /// Hands out the view after the handlers that are ready now, so that many changes make one
    /// view. For changes that remove no peer. A message sent to a peer afterwards follows the view.
    void show_view_soon();
    /// Hands out the view and plans slices, as needed after a step of a link.
    void settle();
};

Nonce fresh_nonce();

/// The TLS of the links of `config`; null without cluster keys.
std::unique_ptr<const base::PskContext> link_tls(const PeeringConfig& config);

}  // namespace protocol
