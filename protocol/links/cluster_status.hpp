#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_finder.hpp"
#include "protocol/net/error.hpp"
#include "protocol/publishing/link_counters.hpp"

namespace protocol {

/// Where our copy of a peer's summary stands.
enum class PeerState {
    connecting,        // no connection from it yet
    hello,             // we are connected to it, and the hello is not over
    waiting_snapshot,  // link up, no summary yet, or it must be replaced
    in_sync,           // its summary counts
    lagging,           // in sync, but it has not confirmed what we invalidated while it was away
    no_address,        // in sync, but no place is known where it can be asked
    one_way,           // our link to it is up, and it makes none to us
    withdrawn,         // it said goodbye
    gone,              // there was a link and it broke
    refused,           // it, or we, refused the hello
};
std::string_view name(PeerState state) noexcept;

/// Why a link last ended, or could not be made; no error: there is one, or there never was.
struct LastEnd {
    boost::system::error_code error;
    std::chrono::steady_clock::time_point at{};

    std::string reason() const { return error ? reason_of(error) : std::string(); }
    /// Of the links in both directions the one that ended later tells.
    void take_later(const LastEnd& other) {
        if (other.error && (!error || other.at >= at)) *this = other;
    }
};

/// A snapshot of numbers for /api/v1/status and /metrics. Counters count from the start of this
/// run.
struct ClusterStatus : LinkCounters {
    struct Peer : PeerLinkCounters {
        std::string node;
        PeerState state = PeerState::connecting;
        std::uint64_t epoch = 0;       // of its summary; 0 = none
        std::uint64_t generation = 0;  // deltas since the epoch began
        double lag_seconds = 0;     // since it last said that we are in sync; grows without limit
        std::uint64_t objects = 0;  // as it last said
        std::uint64_t bits = 0;
        unsigned hashes = 0;
        bool publishing = false;   // our link to it is up
        double state_seconds = 0;  // for how long it has been in this state
        std::string cause;         // what keeps it from being asked, in words; empty: nothing
        std::uint64_t invalidations_sent = 0;
        std::uint64_t invalidations_confirmed = 0;  // by it, of ours
        std::uint64_t invalidations_pending = 0;    // of ours, not confirmed by it
        LastEnd last_end;
    };
    struct Own {
        std::string kind;
        std::uint64_t epoch = 0, generation = 0;
        std::uint64_t objects = 0;
        std::uint64_t bits = 0;
        unsigned hashes = 0;
        double fill_ratio = 0;          // share of the bits that are set
        double expected_false_hit = 0;  // probability per absent key, at this fill ratio
    };
    std::vector<Peer> peers;  // by number
    Peer gone;                // sums over those that are peers no more
    std::uint64_t peers_gone = 0;
    std::vector<PeerFinder::Report> names;  // behind which peers are looked for
    std::vector<std::string> unanswered;    // places where nobody has answered: place, and why
    std::vector<std::string> unplaced;      // listed, but there is no room (max_peers)
    Own own;
    std::map<std::string, std::uint64_t> refusals;  // links ended or refused, by reason
};

}  // namespace protocol
