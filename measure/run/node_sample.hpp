#pragma once

#include <algorithm>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/net/host_port.hpp"
#include "proxy/admin/node_status.hpp"

namespace measure {

using base::HostPort;

// The counters of GET /api/v1/status that reports need. Fields that a node of another version lacks
// are 0.

/// One peer, as the node counts it.
struct PeerSample : proxy::PeerCounters {
    std::string node;
    std::string state;
    double state_seconds = 0;  ///< time in this state
    std::string cause = {};    ///< the obstacle to requests in either direction, in words
    double lag_seconds = 0;
    std::string last_error = {};  ///< why a link in either direction is down; empty if both are up
    double last_error_seconds = 0;     ///< age of that error
    std::string last_http_error = {};  ///< why the last peer request failed
    double last_http_error_seconds = 0;
    std::optional<double> clock_ahead_seconds = {};  ///< of this node's; negative: behind
    std::uint64_t objects = 0, bits = 0;             ///< of the peer's summary
    std::uint64_t announcement_bytes_received = 0;   ///< deltas and snapshots from the peer
    /// In CounterTrack::counted(): hits and failures, and answers given, before the first sample.
    std::uint64_t ended_before = 0, served_before = 0;

    /// Requests to the peer without an end.
    std::uint64_t under_way() const {
        return asked -
               std::min(asked, hits + false_hits + stale_hits + refused + too_old + failures);
    }
};

/// One directory of the disk tier.
struct DiskSample : proxy::DiskCounters {
    std::string path;
    std::string state;  ///< as the node calls it; a newer node may use other words
    std::string last_error;
    double loading_seconds = 0;
};

/// The requests of clients at one node, by outcome.
struct RequestSample {
    std::uint64_t total = 0, local_hit = 0, peer_hit = 0, origin_fetch = 0, uncacheable = 0,
                  error = 0, refused = 0;
};

/// The places where a node looks for others, and what it found there.
struct PlaceSample {
    struct Name {  // a name to be resolved to peers; peers still to be met are absent from `peers`
        std::string name;
        std::uint64_t places = 0;
        std::string trouble;
    };
    std::vector<Name> names;
    struct Server {  // of a group of `origins`, or a parent proxy
        std::string group, server, state;
        std::uint64_t requests = 0, failures = 0, in_flight = 0;
    };
    std::vector<Server> servers;
    std::vector<std::string> faults;      // of origins, servers, lists, certificates: sentences
    std::vector<std::string> unanswered;  // places without an identified node, and the reason
    std::vector<std::string> unplaced;    // listed nodes beyond the limit of peers
};

/// The status of one node at one time. A plain value.
struct NodeSample : RequestSample, PlaceSample {
    std::string node;
    std::string instance;  ///< of the process; empty for older nodes
    double uptime_seconds = 0;
    bool ready = false, draining = false;
    std::string reload_error;     ///< why the last reload was refused; empty if it took effect
    std::uint64_t evictions = 0;  ///< from memory and disk
    // As the tables of the node describe them: a new counter is read, summed and compared
    // automatically.
    proxy::TrafficCounters traffic;
    proxy::CacheCounters cache;
    proxy::StoreDiskStatus store_disk;
    protocol::LinkCounters links;
    std::vector<PeerSample> peers;
    std::vector<DiskSample> disk;

    const PeerSample* peer(std::string_view name) const;

    /// Adds the counters of `other`. Levels, names, peers and disks stay.
    NodeSample& operator+=(const NodeSample& other);

    /// Sums over all peers.
    std::uint64_t false_hits() const;
    std::uint64_t other_refusals() const;  ///< stale hits, refused, too old
    std::uint64_t failures() const;
    std::uint64_t under_way() const;  ///< requests to peers without an end
};

/// Returns nothing, and the reason in `why`, if `json` is not the status of a node.
std::optional<NodeSample> parse_status(std::string_view json, std::string& why);

/// Reads the status at a node's admin port.
std::optional<NodeSample> fetch_status(const HostPort& admin, std::chrono::milliseconds timeout,
                                       std::string& why);

/// The counters of one node over a measurement. A restarted process counts from 0, so the track
/// sums the last known counters of each instance. One thread.
class CounterTrack {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Adds a sample. The first one is the zero of the measurement. `asked` and `answered` are the
    /// times around the request; on a busy machine they may be far apart.
    void sample(const NodeSample& now, Time asked, Time answered);

    bool sampled() const { return last_.has_value(); }
    unsigned restarts() const { return restarts_; }
    /// Requests to peers that had no end at the last sample.
    std::uint64_t under_way() const { return last_ ? last_->under_way() : 0; }
    /// Objects in memory or on disk at the first sample.
    std::uint64_t objects_before() const { return objects_before_; }
    /// The counts since the first sample. Levels (cache, ready, state, lag) are those of the last
    /// one.
    NodeSample counted() const;

private:
    std::optional<NodeSample> base_, last_;
    NodeSample earlier_instances_;
    std::uint64_t objects_before_ = 0;
    /// The latest possible start of the process, on the clock of Time.
    std::chrono::duration<double> started_by_{0};
    unsigned restarts_ = 0;
};

/// Compares the books of two nodes. B's answers to A include all hits of A at B, and at most the
/// failed ones besides: A.hits(B) <= B.served(A) <= A.hits(B) + A.failures(B). A network may hold a
/// question back until long after A has given it up. So `failures` includes those before the
/// measurement for which B had given nothing by then, and answers that were too old for A.
struct Book {
    std::string asker, giver;
    std::uint64_t hits = 0, served = 0, failures = 0;
    bool balanced() const { return hits <= served && served <= hits + failures; }
};

/// One book for each ordered pair of nodes that are peers.
std::vector<Book> books_between(const std::vector<NodeSample>& nodes);

}  // namespace measure
