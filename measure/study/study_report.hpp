#pragma once

#include <string>
#include <string_view>

#include "measure/study/study.hpp"

namespace measure {

/// A simulation's counts for each request, and what hits they are.
struct PerRequest {
    double local = 0, peer = 0, total = 0;    // parts of the requests
    double local_bytes = 0, total_bytes = 0;  // parts of the bytes
    double false_misses = 0;                  // part of the requests
    double false_hits = 0;
    double announcements = 0, announcement_bytes = 0;
    double queries = 0, query_bytes = 0;  // to no use, and all of ICP's
    double waited_ms = 0;

    double messages() const { return announcements + queries; }
    double message_bytes() const { return announcement_bytes + query_bytes; }
};
PerRequest per_request(const SimulationCounts& counts);

/// Above this nothing is judged: of the lines that may be requests, the part that is not certain.
inline constexpr double kDoubtAllowed = 0.1;
/// Below these nothing is judged.
inline constexpr std::uint64_t kFewestRequests = 100;  // for each proxy
inline constexpr std::uint64_t kFewestClients = 4;     // for each proxy
inline constexpr double kFewestObjects = 10;           // that a cache has room for
/// What an object takes in a cache, in the mean: its head, too, unless each weighs one byte.
double mean_object_bytes(const LogFacts& log, bool unit_objects);

/// How many of the hits of an instant directory are lost (below 0: won), as a part of them.
double lost_hits(const SimulationCounts& counts, const SimulationCounts& ideal);
/// The same as tables have it: "-0.12", "+3.00", in %.
std::string against_ideal(const SimulationCounts& counts, const SimulationCounts& ideal);

/// What the rows of a table are measured by: the base with an instant directory; null when it was
/// not run.
const SimulationCounts* ideal_of(const Study& study, const StudyTable& table);

/// What its rows differ in: "copies and eviction".
std::string_view subject(StudyTable::About about);
/// "1 proxy", "1,000 proxies".
std::string proxies_text(std::size_t proxies);
/// "10% of the distinct bytes", "29 times the distinct bytes".
std::string of_distinct_text(double part);
/// "16 proxies, each with 6.2 MiB (10% of the distinct bytes in all): copies and eviction".
std::string describe(const Study& study, const StudyTable& table);
/// One line about the log.
std::string describe(const LogFacts& log);
/// What else is to be known of it, a line each: how many of its lines are not simulated, and why;
/// how many come after a later one.
std::vector<std::string> notes_on(const LogFacts& log);
/// 99.5 days, 24.0 h, 12 s.
std::string span_text(std::chrono::milliseconds span);

/// What was read, `words` (a verdict, or none), and the tables if they are wanted; at most 100
/// columns wide. `colour` adds terminal escapes, nothing else.
std::string study_text(const Study& study, bool colour, const std::string& words = {},
                       bool tables = true);
/// The same as one JSON object, ending in a newline; `more`, an object or empty, is added to it.
std::string study_json(const Study& study, const std::string& more = {});

}  // namespace measure
