#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/study/study.hpp"

namespace measure {

inline constexpr double kWorthSparing = 0.01;  // share of the origin requests without sharing

/// The recommendation of a study, for the first number of proxies and the first size of caches.
struct Advice {
    SimulationConfig config;           // recommended kind, announcements and copy policy
    std::vector<std::string> reasons;  // one sentence for each choice
};

/// Returns the simulations to add before advice is given. Single tables recommend announcements and
/// a copy policy, each under its own assumptions; these rows combine them with each kind of
/// summary, and also with the default copy policy. Empty if the rows of sharing or of no sharing
/// are missing.
std::vector<SimulationConfig> combinations(const Study& study);

/// Chooses among those combinations() that were run, by their own figures. Returns nothing if none
/// was run.
std::optional<Advice> advise(const Study& study);

/// The gain of sharing over no sharing.
struct Gain {
    double hits = 0;             // share of the requests
    double origin_requests = 0;  // share of the origin requests that are saved
    double saved_requests_per_day = 0, saved_bytes_per_day = 0;  // at the origin
    double messages_per_day = 0, message_bytes_per_day = 0;      // between proxies
    double waited_ms = 0, waited_ms_alone = 0;                   // per request
    double asked_alone = 0;  // origin requests without sharing, as a share of the requests
    bool timed = false;  // the log spans about a day or more; otherwise "per day" means the whole
                         // log
    /// Returns true if sharing saves at least 1 % of the origin requests, saves more bytes than it
    /// costs, and keeps the mean waiting time.
    bool pays() const;
};
Gain gain_of(const LogFacts& log, const SimulationCounts& alone, const SimulationCounts& shared);

/// Returns the reason why the study cannot judge sharing, or an empty string. It needs enough
/// proxies, requests and stored objects.
std::string too_little_to_tell(const LogFacts& log, const SimulationConfig& config);

/// Returns the reason why lines left out of the log could change the verdict or the settings, or an
/// empty string.
std::string left_out_too_much(const LogFacts& log, const Gain& gain);

/// The advice in plain words, after `config` was run: the settings as JSON, or the reason why
/// sharing does not pay or cannot be judged.
std::string advice_text(const Study& study, const Advice& advice);
/// The same as members of a JSON object: {"advice": {...}}, with `reasons` and `settings`, or with
/// `why_not`.
std::string advice_json(const Study& study, const Advice& advice);
/// The reason why advise() returned nothing.
std::string no_advice_text(const Study& study);

}  // namespace measure
