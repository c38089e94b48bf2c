#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/study/study.hpp"

namespace measure {

inline constexpr double kWorthSparing = 0.01;  // of what the origin is asked without sharing

/// What a study says should be done, for the first number of proxies and the first size of caches.
struct Advice {
    SimulationConfig config;           // kind, announcements and copy policy that are advised
    std::vector<std::string> reasons;  // one sentence for each choice
};

/// What may be advised: the announcements and the copy policy that single tables speak for, put
/// together, with each kind of summary; and the same with the default copy policy. Empty when the
/// rows of sharing, or of none, are missing. To be added to the study and run: what single tables
/// say holds under the assumptions of each.
std::vector<SimulationConfig> combinations(const Study& study);

/// Chosen among combinations(), of which those count that were run, by their own figures; nothing
/// when none was.
std::optional<Advice> advise(const Study& study);

/// What sharing brings beside none.
struct Gain {
    double hits = 0;             // part of the requests
    double origin_requests = 0;  // of those without sharing, the part that is spared
    double saved_requests_per_day = 0, saved_bytes_per_day = 0;  // at the origin
    double messages_per_day = 0, message_bytes_per_day = 0;      // between proxies
    double waited_ms = 0, waited_ms_alone = 0;                   // per request
    double asked_alone = 0;  // of the origin without sharing, part of the requests
    bool timed = false;  // the log spans a day, all but an hour; else "per day" is: in all of it
    /// It spares at least 1 % of what the origin is asked, more bytes than it costs, and nobody
    /// waits longer for it.
    bool pays() const;
};
Gain gain_of(const LogFacts& log, const SimulationCounts& alone, const SimulationCounts& shared);

/// Why the study cannot tell whether sharing pays; empty when it can: who shares, how much is asked
/// and how much is stored are enough to go by.
std::string too_little_to_tell(const LogFacts& log, const SimulationConfig& config);

/// Why what was left out of the log could change the verdict, or the settings; empty when it could
/// not.
std::string left_out_too_much(const LogFacts& log, const Gain& gain);

/// The advice in plain words, for which `config` was run and counted; with the settings as JSON, or
/// with the reason why sharing does not pay, or why that cannot be told.
std::string advice_text(const Study& study, const Advice& advice);
/// The same as members of a JSON object: {"advice": {...}}, with `reasons` and `settings`, or with
/// `why_not`.
std::string advice_json(const Study& study, const Advice& advice);
/// Where advise() has given none: why.
std::string no_advice_text(const Study& study);

}  // namespace measure
