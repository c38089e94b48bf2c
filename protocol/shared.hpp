#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/cluster_config.hpp"
#include "protocol/cluster_hooks.hpp"
#include "protocol/dial_places.hpp"
#include "protocol/dialer.hpp"
#include "protocol/doorstep.hpp"
#include "protocol/heartbeat.hpp"
#include "protocol/hello.hpp"
#include "protocol/invalidation_log.hpp"
#include "protocol/keys.hpp"
#include "protocol/link_log.hpp"
#include "protocol/membership.hpp"
#include "protocol/neighbourhood.hpp"
#include "protocol/publisher.hpp"
#include "protocol/resolver.hpp"

namespace protocol {

/// What all links of one node work on. Lives as long as any of them. Control thread only.
struct Shared {
    Shared(boost::asio::any_io_executor on, ClusterConfig configuration, ClusterHooks hooks);

    boost::asio::any_io_executor executor;
    ClusterConfig config;  // without an entry for ourselves
    Identity self;
    KeyRing keys;
    SubscriberHello::Rules rules;
    Publisher publisher;
    InvalidationLog invalidations;
    Membership membership;
    Neighbourhood neighbours;
    Doorstep doorstep;
    Resolver resolver;
    Dialer dialer;
    DialPlaces dial_places;
    LinkLog log;
    ClusterHooks hooks;

    /// What the two links between us and a peer know of each other, so that a peer is heard on both
    /// when it speaks on one.
    struct Pulse {
        Clock::time_point heard_at = Clock::time_point::min();  // on the link from it
        std::chrono::milliseconds promised{0};  // it speaks again within this time, on one of them
        bool listens_elsewhere = false;         // it has said so on our link to it, which is up
    };
    Pulse& pulse(std::size_t peer) {
        if (pulses.size() <= peer) pulses.resize(peer + 1);
        return pulses[peer];
    }
    std::vector<Pulse> pulses;

    /// How far apart our heartbeats are on each link; follows the number of peers.
    std::chrono::nanoseconds beat_interval;
    /// How long this peer may say nothing before it is gone.
    Clock::duration silence_limit(std::size_t peer) {
        return protocol::silence_limit(config.timings.gone_after, config.timings.heartbeat,
                                       pulse(peer).promised);
    }

    /// To be called when the publisher or the neighbourhood has work in slices. May be empty.
    std::function<void()> plan_work;

    /// What is posted may come after the end.
    std::shared_ptr<Shared*> anchor = std::make_shared<Shared*>(this);
    bool view_is_planned = false;

    /// Hands out the view if it has changed.
    void show_view();
    /// The same after what is ready in the event loop by now, so that many changes at a time are
    /// one view: for those that take nothing away. What is sent after this to a peer follows it.
    void show_view_soon();
};

Nonce fresh_nonce();

}  // namespace protocol
