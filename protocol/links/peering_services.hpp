#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/async/deadline.hpp"
#include "base/async/task_group.hpp"
#include "base/net/dialer.hpp"
#include "base/net/resolver.hpp"
#include "base/tls/psk_context.hpp"
#include "protocol/links/link_log.hpp"
#include "protocol/links/peering.hpp"
#include "protocol/membership/dial_permits.hpp"
#include "protocol/membership/membership.hpp"

namespace protocol {

class PeerDialer;

/// The peering of a node, with the services that its links use. Outlives all links. Control thread
/// only.
struct PeeringServices : Peering {
    PeeringServices(boost::asio::any_io_executor on, PeeringConfig configuration,
                    ClusterHooks hooks);

    boost::asio::any_io_executor executor;
    std::unique_ptr<const base::PskContext> psk;  // null without cluster keys
    base::Resolver resolver;
    base::Dialer dialer;
    DialPermits dial_permits;
    LinkLog log;
    base::TaskGroup tasks;
    std::weak_ptr<void> owner;  // set when the links begin to run

    /// Called when the publisher or the neighbourhood has work in slices. May be empty.
    std::function<void()> plan_work;

    /// Guards posted handlers, which may run after the end.
    std::shared_ptr<PeeringServices*> anchor = std::make_shared<PeeringServices*>(this);
    bool view_is_planned = false;

    /// Coroutines that wait until a peer has confirmed an invalidation, or a link to one has ended.
    std::vector<boost::asio::steady_timer*> waiting;
    void wake_waiting() {
        for (auto* timer : waiting) timer->cancel();
    }

    /// The links that this node makes, by place.
    std::map<Membership::ContactId, std::shared_ptr<PeerDialer>> peer_dialers;
    /// The dialer of the place where this peer is dialled; null: there is none.
    PeerDialer* dialer_to(std::size_t peer) const;

    /// Gives the report of this node the time of both clocks.
    void stamp_report();
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
