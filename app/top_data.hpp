#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace app {

// The numbers that `hearsay top` shows, read from the answers of one admin port. Names and URLs are
// printable ASCII, as measure::printable() makes them. Fields that an answer lacks are empty or 0.

/// Requests by outcome.
struct TopRequests {
    std::uint64_t local_hit = 0, peer_hit = 0, origin_fetch = 0, uncacheable = 0, error = 0,
                  refused = 0;
    std::uint64_t total() const {
        return local_hit + peer_hit + origin_fetch + uncacheable + error + refused;
    }
    TopRequests& operator+=(const TopRequests&);
};

/// A link of a node, as that node reports it.
struct TopLink {
    std::string peer, state;
    std::uint64_t hits = 0;  ///< peer hits that the node got from the peer
    std::string reason{};    ///< of its last end, if the link is not in step; of the asked node
};

struct TopNode {
    struct Faults {
        std::uint64_t disks = 0, origins = 0;
    };

    std::string node, state;
    bool self = false;
    double age_seconds = 0;  ///< of its report
    TopRequests requests;    ///< since its start
    std::uint64_t saved_bytes = 0, objects = 0, errors_5m = 0;
    double memory = 0, disk = 0;  ///< used share of the room; 0 without a disk
    std::vector<TopLink> links;
    std::optional<double> rate;  ///< requests per second, from TopRates
    std::string reason;          ///< why the node is refused
    bool has_report = true;
    Faults faults;  ///< by its report
};

/// The last interval of the history of the asked node.
struct TopInterval {
    double seconds = 0;  ///< 0: there is none yet
    TopRequests requests;
    struct Times {
        std::optional<double> p50_ms, p99_ms;
    };
    Times local_hit, peer_hit, origin_fetch;
};

struct TopUrl {
    std::string url;
    std::uint64_t requests = 0;  ///< an estimate: the node counts a sample of the requests
};

struct TopData {
    std::string node, version;
    double uptime_seconds = 0;
    std::vector<TopNode> nodes;
    TopInterval last;
    std::vector<TopUrl> urls;
    std::string urls_note;  ///< why there are no URLs or fewer, or empty
    std::string fault;      ///< the worst one that is known, or empty
};

/// Reads the answer of /api/v1/nodes. Returns nothing, and the reason in `why`, for anything else.
std::optional<TopData> read_top_nodes(std::string_view json, std::string& why);
/// Adds the last interval of /api/v1/history, and ignores anything else.
void read_top_history(std::string_view json, TopData& into);
/// Adds the URLs of /api/v1/top, or the note why there are none. `status`: of the answer, 0 without
/// one.
void read_top_urls(unsigned status, std::string_view json, TopData& into);

/// Requests per second of each node, from the differences of its counts. The counts of another node
/// are as old as its report, which comes every few seconds. So a rate is over the time between two
/// reports, and holds until the next one, for kReport at most. One thread.
class TopRates {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kReport{15};

    /// Sets the rates of nodes that were seen before, and remembers the counts.
    void see(TopData& data, Clock::time_point now);

private:
    struct LastCounts {
        std::uint64_t total = 0;
        Clock::time_point at;  ///< of the report
        std::optional<double> rate;
    };
    std::map<std::string, LastCounts> seen_;
};

}  // namespace app
