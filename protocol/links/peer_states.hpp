#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "protocol/links/peer_dialer.hpp"
#include "protocol/links/peering_services.hpp"
#include "protocol/links/subscriber_end.hpp"

namespace protocol {

/// Judges the state of each peer by both links with it, for status and log, and for the peer
/// itself. All arguments outlive it. Control thread only.
class PeerStates {
public:
    PeerStates(PeeringServices& context, const PeerFeeds& feeds)
        : context_(context), feeds_(feeds) {}

    void add_peer(std::size_t number, std::string node);
    void remove_peer(std::size_t number) { shown_[number] = {}; }

    /// Notes since when each peer is in its state, reports to peers why they are not dialled, and
    /// logs trouble that is seen at no link's end. Called at each heartbeat.
    void watch();
    /// Fills state, time in this state, and cause.
    void show(std::size_t number, ClusterStatus::Peer& status) const;

private:
    PeerState state_of(std::size_t number, base::Clock::time_point now) const;
    LastEnd last_end_of(std::size_t number) const;
    std::string cause_of(std::size_t number, PeerState state) const;
    std::string why_without_address(std::size_t number) const;
    std::uint64_t cannot_dial(std::size_t number) const;
    const PeerDialer* dialer_at(const boost::asio::ip::address& address) const;

    PeeringServices& context_;
    const PeerFeeds& feeds_;
    /// The state that a peer was last found in, and since when.
    struct Shown {
        std::string node;  // empty: the number is free
        PeerState state = PeerState::connecting;
        base::Clock::time_point since{};
        bool warned = false;
    };
    std::vector<Shown> shown_;  // by number
};

}  // namespace protocol
