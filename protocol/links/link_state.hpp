#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "protocol/links/hello.hpp"
#include "protocol/membership/cluster_config.hpp"
#include "protocol/membership/doorstep.hpp"
#include "protocol/membership/membership.hpp"
#include "protocol/membership/neighbourhood.hpp"
#include "protocol/publishing/invalidation_log.hpp"
#include "protocol/publishing/publisher.hpp"
#include "protocol/wire/keys.hpp"

namespace protocol {

/// What all links of one node work on, without anything that waits: no executor, no socket, no
/// clock, no randomness, no log. Whoever runs the node (LinkContext, or a simulator) looks after
/// each step whether the neighbourhood has another view to show, and whether it or the publisher
/// has work to be done in slices. One thread. Lives as long as any link.
struct LinkState {
    using TimePoint = std::chrono::steady_clock::time_point;

    /// `instance`: random, this run's.
    LinkState(ClusterConfig configuration, const Instance& instance, std::uint64_t first_epoch,
              TimePoint now);

    ClusterConfig config;  // without an entry for ourselves
    Identity self;
    KeyRing keys;
    SubscriberHello::Rules rules;
    Publisher publisher;
    InvalidationLog invalidations;
    Membership membership;
    Neighbourhood neighbours;
    Doorstep doorstep;

    /// What the two links between us and a peer know of each other, so that a peer is heard on both
    /// when it speaks on one.
    struct Pulse {
        TimePoint heard_at = TimePoint::min();  // on the link from it
        std::chrono::milliseconds promised{0};  // it speaks again within this time, on one of them
        bool listens_elsewhere = false;         // it has said so on our link to it, which is up
        bool said_goodbye = false;              // and has not come back since
        std::uint64_t cannot_dial = 0;          // what we say of our link to it (dial_report.hpp)
        std::uint64_t it_cannot_dial = 0;       // what it says of its link to us
    };
    Pulse& pulse(std::size_t peer) {
        if (pulses.size() <= peer) pulses.resize(peer + 1);
        return pulses[peer];
    }
    std::vector<Pulse> pulses;

    bool leaving = false;  // this node has said goodbye

    /// How far apart our heartbeats are on each link; follows the number of peers.
    std::chrono::nanoseconds beat_interval;
    /// How long this peer may say nothing before it is gone.
    std::chrono::nanoseconds silence_limit(std::size_t peer);
};

}  // namespace protocol
