#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/report/ideal.hpp"
#include "measure/report/numbers.hpp"
#include "measure/run/node_counters.hpp"
#include "measure/run/replay.hpp"
#include "measure/trace/reading.hpp"

namespace measure {

/// One proxy in the report.
struct ReportRow {
    std::string name;                     ///< the node's own, or its address
    ProxyTally seen;                      ///< by the clients
    std::optional<NodeCounters> counted;  ///< by the proxy itself during the replay
    unsigned restarts = 0;
    bool silent_at_end = false;        ///< its status could not be read after the replay
    std::uint64_t objects_before = 0;  ///< stored when the replay began
    IdealCounts ideal;

    /// Its own counters can be trusted to hold all that happened.
    bool counters_complete() const { return counted && restarts == 0 && !silent_at_end; }
};

/// Everything a replay found out, before it is put into words.
struct Report : Reading {
    std::string title;  ///< what was replayed; says so when it is synthetic
    std::string pace;   ///< how fast it was meant to go
    std::string note;   ///< what the reader must know to judge the figures; may be empty
    std::uint64_t clients = 0, urls = 0;
    std::uint64_t sent = 0;
    bool stopped = false;
    bool goes_on = false;  ///< the caches hold what requests before these have left, as they should
    double elapsed_seconds = 0;
    std::string first_failure;
    std::vector<std::string> warnings;  ///< what makes the figures doubtful, one sentence each
    std::vector<ReportRow> rows;
    Ideal ideal;
    std::optional<std::uint64_t> origin_requests;  ///< answered by the built-in origin meanwhile
};

/// The figures of one line of the table: by the proxy's own counters where they are complete, else
/// as the clients saw it.
struct Figures {
    bool by_counters = false;
    std::uint64_t requests = 0, local_hits = 0, peer_hits = 0, origin_fetches = 0, other = 0,
                  errors = 0;
    std::uint64_t false_hits = 0, other_refusals = 0, peer_failures = 0;  ///< counters only
    std::uint64_t body_bytes = 0, local_bytes = 0, peer_bytes = 0;        ///< clients only

    std::uint64_t hits() const { return local_hits + peer_hits; }
    Figures& operator+=(const Figures& other);
};
Figures figures_of(const ReportRow&);
Figures totals_of(const Report&);

/// Messages between the proxies; nothing when not every proxy's status was read.
struct Traffic {
    std::uint64_t announcements = 0, heartbeats = 0, link_bytes = 0;
    std::uint64_t false_hits = 0, origin_requests = 0;
    std::uint64_t icp_messages = 0;  ///< what ICP would have sent for the same local misses
    double icp_bytes = 0;
};
std::optional<Traffic> traffic_of(const Report&);

/// (local + peer hits) / ideal shared hits; 0 when the ideal has none.
double found_of_ideal(const Report&);

struct BookVerdict {
    std::vector<Book> books;           ///< of pairs that ran all the time
    std::vector<Book> broken;          ///< those that do not balance
    std::vector<std::string> unknown;  ///< nodes whose books cannot be checked, and why
    bool balanced() const { return broken.empty() && unknown.empty() && !books.empty(); }
};
BookVerdict books_of(const Report&);

/// Adds warnings about what makes the figures doubtful: an admin address that belongs to another
/// node than the proxy (whose counters are then dropped), other clients meanwhile, caches that were
/// not empty.
void doubt(Report&, const std::vector<HostPort>& proxies, const std::vector<HostPort>& admins);

/// Where counters and clients disagree, one sentence each.
std::vector<std::string> disagreements(const Report&);

/// The table, at most 100 columns wide; a longer name has a line of its own. `colour` adds terminal
/// escapes, nothing else.
std::string report_text(const Report&, bool colour);
/// The same as one JSON object, ending in a newline.
std::string report_json(const Report&);

}  // namespace measure
