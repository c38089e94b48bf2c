#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/links/hello.hpp"
#include "protocol/links/link_end.hpp"
#include "protocol/membership/hello_backlog.hpp"
#include "protocol/membership/membership.hpp"
#include "protocol/membership/neighbourhood.hpp"
#include "protocol/membership/peer_view.hpp"
#include "protocol/membership/peering_config.hpp"
#include "protocol/publishing/invalidation_log.hpp"
#include "protocol/publishing/publisher.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/keys.hpp"
#include "protocol/wire/renewal.hpp"

namespace protocol {

class PublisherEnd;

/// Notices from the cluster to its owner, on the control thread. A hook must neither call stop()
/// nor destroy the cluster.
struct ClusterHooks {
    /// A new view; called once in start(), and at each change.
    std::function<void(std::shared_ptr<const PeerView>)> on_view;
    /// An invalidation by a peer, to be applied before the hook returns. The owner calls `done`
    /// once, on the control thread, when the effect would survive the death of this process: at
    /// once or later, even after the end of the link and the cluster. The peer then gets a
    /// confirmation, as soon as all earlier invalidations are done too. The same invalidation may
    /// come again. The hook may be empty.
    std::function<void(const Invalidation&, std::function<void()> done)> on_invalidation;
    /// Peer `node` tells of renewals. The hook may be empty.
    std::function<void(const std::string& node, const Renewals&)> on_renewals;
};

/// The state that all links of a node share: its keys, its publisher, its peers and what they
/// announce. Free of executor, socket, clock, randomness and log. After each step its owner
/// (PeeringServices or a test) checks whether the neighbourhood has a new view, and whether the
/// neighbourhood or the publisher has work in slices. One thread. Outlives all links.
struct Peering {
    using TimePoint = std::chrono::steady_clock::time_point;

    /// `instance`: the random number of this process.
    Peering(PeeringConfig configuration, const Instance& instance, std::uint64_t first_epoch,
            TimePoint now);

    PeeringConfig config;  // without an entry for this node
    Identity self;
    KeyRing keys;
    SubscriberHello::Rules rules;
    Publisher publisher;
    InvalidationLog invalidations;
    Membership membership;
    Neighbourhood neighbours;
    HelloBacklog hello_backlog;
    ClusterHooks hooks;

    /// Shared knowledge of the two links with one peer, so that a message on one of them shows life
    /// on both.
    struct Pulse {
        TimePoint heard_at = TimePoint::min();  // on the link from the peer
        std::chrono::milliseconds promised{
            0};                            // it sends again within this time, on one of the links
        bool listens_elsewhere = false;    // it has announced so on the link to it, which is up
        bool said_goodbye = false;         // and has not come back since
        std::uint64_t cannot_dial = 0;     // report to it on the link to it (dial_report.hpp)
        std::uint64_t it_cannot_dial = 0;  // its report on its link to this node
        LinkEnd* subscriber = nullptr;     // this node's end of the link from the peer

        /// The link from the peer looks again at what it has to say.
        void wake_subscriber() const {
            if (subscriber != nullptr) subscriber->wake();
        }
    };
    Pulse& pulse(std::size_t peer) {
        if (pulses.size() <= peer) pulses.resize(peer + 1);
        return pulses[peer];
    }
    std::vector<Pulse> pulses;

    /// The ends of the links to peers that are up: the subscribers of `publisher`.
    std::vector<PublisherEnd*> subscribers;

    bool leaving = false;  // this node has sent a goodbye

    /// The report of this node, for all peers that take reports. A link sends each number once,
    /// after a heartbeat. Null: there is none yet.
    struct OwnReport {
        std::uint64_t number = 0;  // grows with each report
        std::shared_ptr<const Bytes> bytes;
        TimePoint made{};            // when the wall clock said clock_ms
        std::uint64_t clock_ms = 0;  // since 1970; 0: the report goes out without a clock

        /// The wall clock at `now`; 0: unknown.
        std::uint64_t clock_at(TimePoint now) const;
        /// The bytes with the wall clock at `now`.
        std::shared_ptr<const Bytes> stamped(TimePoint now) const;
    };
    OwnReport report;

    /// The interval of this node's heartbeats on each link; it follows the number of peers.
    std::chrono::nanoseconds beat_interval;
    /// The time of silence after which this peer counts as gone.
    std::chrono::nanoseconds silence_limit(std::size_t peer);
};

}  // namespace protocol
