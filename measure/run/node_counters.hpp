#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/net/host_port.hpp"
#include "proxy/admin/node_status.hpp"

namespace measure {

using protocol::HostPort;

/// The counters of GET /api/v1/status that reports are made of. What an older or newer node does
/// not name is 0.
struct PeerCounters : proxy::PeerCounters {
    std::string node;
    std::string state;
    double state_seconds = 0;  ///< for how long it has been in it
    std::string cause = {};    ///< what keeps it from being asked, or from asking, in words
    double lag_seconds = 0;
    std::string last_error = {};  ///< why a link to it or from it is not there; empty when both are
    double last_error_seconds = 0;     ///< ago
    std::string last_http_error = {};  ///< why a question to it got no answer of use
    double last_http_error_seconds = 0;
    std::uint64_t objects = 0, bits = 0;            ///< of its summary
    std::uint64_t announcement_bytes_received = 0;  ///< deltas and snapshots of it
};

/// A directory of its disk.
struct DiskCounters : proxy::DiskCounters {
    std::string path;
    std::string state;  ///< as the node calls it; one that is newer may have others
    std::string last_error;
    double loading_seconds = 0;
};

struct NodeCounters {
    std::string node;
    std::string instance;  ///< of this run of the process; empty: an older node, which has none
    double uptime_seconds = 0;
    bool ready = false, draining = false;
    std::string reload_error;  ///< why the last reload was refused; empty when it was not
    std::uint64_t total = 0, local_hit = 0, peer_hit = 0, origin_fetch = 0, uncacheable = 0,
                  error = 0;
    std::uint64_t evictions = 0;  ///< from memory and disk
    // As the node's own tables describe them: what is added there is read, summed and compared.
    proxy::TrafficCounters traffic;
    proxy::CacheCounters cache;
    proxy::StoreDiskStatus store_disk;
    protocol::LinkCounters links;
    std::vector<PeerCounters> peers;
    std::vector<DiskCounters> disk;

    const PeerCounters* peer(std::string_view name) const;
    struct Name {  // behind which it looks for peers: those not met yet are not among `peers`
        std::string name;
        std::uint64_t places = 0;
        std::string trouble;
    };
    std::vector<Name> names;
    std::vector<std::string> unanswered;  // places where nobody has said who he is, and why
    std::vector<std::string> unplaced;    // listed nodes that find no room

    /// Adds what `other` counted. Levels, names, peers and disks stay.
    NodeCounters& operator+=(const NodeCounters& other);

    /// Sums over all peers.
    std::uint64_t false_hits() const;
    std::uint64_t other_refusals() const;  ///< stale hits and refused
    std::uint64_t failures() const;
    bool in_sync() const;  ///< with every peer
};

/// Nothing, with a reason in `why`, when `json` is not what a node answers.
std::optional<NodeCounters> parse_status(std::string_view json, std::string& why);

/// Asks a node's admin port.
std::optional<NodeCounters> fetch_status(const HostPort& admin, std::chrono::milliseconds timeout,
                                         std::string& why);

/// What one node counts during a measurement. Counters of a process that is restarted begin at 0,
/// so what each run of it was last seen to count is added up. One thread.
class CounterTrack {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// The first sample is the zero of the measurement. The node was asked and had answered at
    /// these times; a busy machine may take its time in between.
    void sample(const NodeCounters& now, Time asked, Time answered);

    bool sampled() const { return last_.has_value(); }
    unsigned restarts() const { return restarts_; }
    /// Objects in the cache at the first sample, on disk or in memory.
    std::uint64_t objects_before() const { return objects_before_; }
    /// What was counted since the first sample. Levels (cache, ready, state, lag) are the last
    /// ones.
    NodeCounters counted() const;

private:
    std::optional<NodeCounters> base_, last_;
    NodeCounters earlier_runs_;
    std::uint64_t objects_before_ = 0;
    /// The latest moment, on the clock of Time, at which the process can have started.
    std::chrono::duration<double> started_by_{0};
    unsigned restarts_ = 0;
};

/// Do the books of two nodes agree? What B says that it gave to A can be no less than the hits that
/// A had at B, and no more than these and the answers that failed on their way: A.hits(B) <=
/// B.served(A) <= A.hits(B) + A.failures(B).
struct Book {
    std::string asker, giver;
    std::uint64_t hits = 0, served = 0, failures = 0;
    bool balanced() const { return hits <= served && served <= hits + failures; }
};

/// One book for each ordered pair of nodes that know each other.
std::vector<Book> books_between(const std::vector<NodeCounters>& nodes);

}  // namespace measure
