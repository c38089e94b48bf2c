#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_finder.hpp"
#include "protocol/publishing/link_counters.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/error.hpp"

namespace protocol {

/// State of a peer, as this node sees it.
enum class PeerState {
    connecting,        // its first connection is still to come
    hello,             // connected to it, during the hello
    waiting_snapshot,  // link up, and its summary is missing or being replaced
    in_sync,           // its summary counts
    lagging,           // in sync, and still to confirm invalidations made while it was away
    no_address,        // in sync, but its address is unknown
    one_way,           // the link to it is up, and it makes none to this node
    withdrawn,         // it said goodbye
    gone,              // its link broke
    refused,           // it or this node refused the hello
};
std::string_view name(PeerState state) noexcept;

/// The reason why a link last ended, or could not be made. Empty while the link is up, and before
/// the first attempt.
struct LastEnd {
    boost::system::error_code error;
    std::chrono::steady_clock::time_point at{};

    std::string reason() const { return error ? reason_of(error) : std::string(); }
    /// Takes the other direction's end if that came later.
    void take_later(const LastEnd& other) {
        if (other.error && (!error || other.at >= at)) *this = other;
    }
};

/// The invalidations of this node on their way to one peer.
struct InvalidationCounts {
    std::uint64_t sent = 0;
    std::uint64_t confirmed = 0, pending = 0;  // by the peer; still to be confirmed by it
};

/// Numbers for /api/v1/status and /metrics. Counters count from the start of this instance.
struct ClusterStatus : LinkCounters {
    struct Peer : PeerLinkCounters {
        std::string node;
        PeerState state = PeerState::connecting;
        std::uint64_t epoch = 0;       // of its summary; 0: none
        std::uint64_t generation = 0;  // deltas since the epoch began
        double lag_seconds = 0;        // since its last confirmation of sync; grows without limit
        std::uint64_t objects = 0;     // number in its last message
        std::uint64_t bits = 0;
        unsigned hashes = 0;
        bool publishing = false;   // this node's link to it is up
        bool renews = false;       // PeerView::Peer::renews
        double state_seconds = 0;  // time in this state
        std::string cause;         // reason why it is not asked, in words; may be empty
        InvalidationCounts invalidations;
        LastEnd last_end;
    };
    struct SummaryStatus {
        std::string kind;
        std::uint64_t epoch = 0, generation = 0;
        std::uint64_t objects = 0;
        std::uint64_t bits = 0;
        unsigned hashes = 0;
        double fill_ratio = 0;          // share of the summary that is used
        double expected_false_hit = 0;  // chance of a false hit for an absent key
    };
    std::vector<Peer> peers;  // by number
    Peer gone;                // sums over former peers
    std::uint64_t peers_gone = 0;
    std::vector<PeerFinder::Report> names;  // names that lead to peers
    std::vector<std::string> unanswered;    // places where no node has answered: place, and reason
    std::vector<std::string> unplaced;      // listed peers beyond max_peers
    SummaryStatus own;
    std::map<std::string, std::uint64_t> refusals;  // links ended or refused, by reason
};

/// The last report that a peer has sent, for the layer above. It may be of an earlier link.
struct ReceivedReport {
    std::string node;
    Bytes bytes;
    std::chrono::nanoseconds age{0};
    std::chrono::nanoseconds interval{0};  // the peer promises a heartbeat within this time
};

}  // namespace protocol
