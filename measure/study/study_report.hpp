#pragma once

#include <string>
#include <string_view>

#include "measure/study/study.hpp"

namespace measure {

/// The counts of a simulation for each request, and the shares of hits.
struct RequestRates {
    double local = 0, peer = 0, total = 0;    // shares of the requests
    double local_bytes = 0, total_bytes = 0;  // shares of the bytes
    double false_misses = 0;                  // share of the requests
    double false_hits = 0;
    double announcements = 0, announcement_bytes = 0;
    double queries = 0, query_bytes = 0;  // in vain, and all of ICP's
    double renewals = 0;
    double waited_ms = 0;

    double messages() const { return announcements + queries + renewals; }
    double message_bytes() const {
        return announcement_bytes + query_bytes + renewals * kRenewalBytes;
    }
};
RequestRates per_request(const SimulationCounts& counts);

/// Largest share of uncertain lines, among those that may be requests, at which the study gives a
/// verdict.
inline constexpr double kDoubtAllowed = 0.1;
/// Least numbers for a verdict.
inline constexpr std::uint64_t kFewestRequests = 100;  // for each proxy
inline constexpr std::uint64_t kFewestClients = 4;     // for each proxy
inline constexpr double kFewestObjects = 10;           // that a cache has room for
/// Mean size of an object in a cache, with its head, or 1 for unit objects.
double mean_object_bytes(const LogFacts& log, bool unit_objects);

/// Share of an instant directory's hits that are lost; negative if hits are won.
double lost_hits(const SimulationCounts& counts, const SimulationCounts& ideal);
/// The same in percent for tables: "-0.12", "+3.00".
std::string against_ideal(const SimulationCounts& counts, const SimulationCounts& ideal);

/// The reference of a table's rows: the base with an instant directory. Null if it was not run.
const SimulationCounts* ideal_of(const Study& study, const StudyTable& table);

/// The subject that the rows compare: "copies and eviction".
std::string_view subject(StudyTable::Topic about);
/// "1 proxy", "1,000 proxies".
std::string proxies_text(std::size_t proxies);
/// "10% of the distinct bytes", "29 times the distinct bytes".
std::string of_distinct_text(double part);
/// "16 proxies, each with 6.2 MiB (10% of the distinct bytes in all): copies and eviction".
std::string describe(const Study& study, const StudyTable& table);
/// One line about the log.
std::string describe(const LogFacts& log);
/// Notes about the log, a line each: lines left out of the simulation, by reason, and lines out of
/// order.
std::vector<std::string> notes_on(const LogFacts& log);
/// "99.5 days", "24.0 h", "12 s".
std::string span_text(std::chrono::milliseconds span);

/// Facts about the log, `words` (a verdict, or empty), and the tables if wanted; at most 100
/// columns wide. `colour` adds terminal escapes.
std::string study_text(const Study& study, bool colour, const std::string& words = {},
                       bool tables = true);
/// The same as one JSON object, ending in a newline. `more`, an object or empty, is merged into it.
std::string study_json(const Study& study, const std::string& more = {});

}  // namespace measure
