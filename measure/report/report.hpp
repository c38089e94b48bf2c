#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/report/ideal.hpp"
#include "measure/report/numbers.hpp"
#include "measure/run/node_sample.hpp"
#include "measure/run/replay.hpp"
#include "measure/trace/reading.hpp"

namespace measure {

/// One proxy in the report.
struct ReportRow {
    std::string name;                   ///< name of the node, or its address
    ProxyTally seen;                    ///< as the clients saw it
    std::optional<NodeSample> counted;  ///< as the proxy counted during the replay
    unsigned restarts = 0;
    bool silent_at_end = false;        ///< its status was unreadable after the replay
    std::uint64_t objects_before = 0;  ///< objects stored when the replay began
    IdealCounts ideal;

    /// Returns true if the proxy's own counters cover the whole replay.
    bool counters_complete() const { return counted && restarts == 0 && !silent_at_end; }
};

/// All results of a replay, before they become text.
struct Report : Reading {
    std::string title;  ///< the log that was replayed; marks a synthetic one
    std::string pace;   ///< the intended speed
    std::string note;   ///< a caveat about the figures; may be empty
    std::uint64_t clients = 0, urls = 0;
    std::uint64_t sent = 0;
    bool stopped = false;
    bool goes_on = false;  ///< the caches intentionally hold the objects of earlier requests
    double elapsed_seconds = 0;
    std::string first_failure;
    std::vector<std::string> warnings;  ///< doubts about the figures, one sentence each
    std::vector<ReportRow> rows;
    Ideal ideal;
    RequestSeries course;
    std::optional<std::uint64_t> origin_requests;  ///< requests that the built-in origin answered
                                                   ///< meanwhile
};

/// The figures of one line of the table: the proxy's own counters if they are complete, otherwise
/// the clients' view.
struct Figures {
    bool by_counters = false;
    std::uint64_t requests = 0, local_hits = 0, peer_hits = 0, origin_fetches = 0, other = 0,
                  errors = 0;
    std::uint64_t false_hits = 0, other_refusals = 0, peer_failures = 0;  ///< from counters only
    std::uint64_t body_bytes = 0, local_bytes = 0, peer_bytes = 0;        ///< from clients only

    std::uint64_t hits() const { return local_hits + peer_hits; }
    Figures& operator+=(const Figures& other);
};
/// The figures of one proxy, and the sum over all.
Figures figures_of(const ReportRow&);
Figures totals_of(const Report&);

/// Messages between the proxies. Unknown unless the status of every proxy was read.
struct Traffic {
    std::uint64_t announcements = 0, heartbeats = 0, link_bytes = 0;
    std::uint64_t false_hits = 0, origin_requests = 0;
    std::uint64_t icp_messages = 0;  ///< messages that ICP would have sent for the same local
                                     ///< misses
    double icp_bytes = 0;
};
std::optional<Traffic> traffic_of(const Report&);

/// (local + peer hits) / ideal shared hits; 0 if the ideal has no hits.
double found_of_ideal(const Report&);

/// The books of all pairs of nodes, and those that show a fault.
struct BookVerdict {
    std::vector<Book> books;           ///< of pairs that ran all the time
    std::vector<Book> broken;          ///< books that do not balance
    std::vector<std::string> unknown;  ///< nodes whose books cannot be checked, and the reason
    bool balanced() const { return broken.empty() && unknown.empty() && !books.empty(); }
};
BookVerdict books_of(const Report&);

/// Adds warnings about doubtful figures: an admin address of another node than the proxy (its
/// counters are dropped), other clients during the replay, caches that were filled before it.
void doubt(Report&, const std::vector<HostPort>& proxies, const std::vector<HostPort>& admins);

/// Differences between counters and clients, one sentence each.
std::vector<std::string> disagreements(const Report&);

/// The table, at most 100 columns wide. A longer name has a line of its own. `colour` adds terminal
/// escapes.
std::string report_text(const Report&, bool colour);
/// The same as one JSON object, ending in a newline.
std::string report_json(const Report&);

}  // namespace measure
