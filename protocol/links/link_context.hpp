#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

#include "protocol/links/cluster_hooks.hpp"
#include "protocol/links/link_log.hpp"
#include "protocol/links/link_state.hpp"
#include "protocol/membership/dial_places.hpp"
#include "protocol/net/dialer.hpp"
#include "protocol/net/resolver.hpp"

namespace protocol {

/// What all links of one node work on, and work with. Lives as long as any of them. Control thread
/// only.
struct LinkContext : LinkState {
    LinkContext(boost::asio::any_io_executor on, ClusterConfig configuration, ClusterHooks hooks);

    boost::asio::any_io_executor executor;
    Resolver resolver;
    Dialer dialer;
    DialPlaces dial_places;
    LinkLog log;
    ClusterHooks hooks;

    /// To be called when the publisher or the neighbourhood has work in slices. May be empty.
    std::function<void()> plan_work;

    /// What is posted may come after the end.
    std::shared_ptr<LinkContext*> anchor = std::make_shared<LinkContext*>(this);
    bool view_is_planned = false;

    /// Hands out the view if it has changed.
    void show_view();
    /// The same after what is ready in the event loop by now, so that many changes at a time are
    /// one view: for those that take nothing away. What is sent after this to a peer follows it.
    void show_view_soon();
    /// After each step of a link: what follows from it for others.
    void settle();
};

Nonce fresh_nonce();

}  // namespace protocol
