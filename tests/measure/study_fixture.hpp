#pragma once

#include <algorithm>
#include <utility>

#include "measure/study/advice.hpp"
#include "measure/study/study.hpp"

namespace measure {

inline LogFacts small_log() {
    LogFacts log;
    log.title = "test.log (squid format)";
    log.requests = 864'000;
    log.clients = 300;
    log.objects = 100'000;
    log.bytes = 8'640'000'000;
    log.distinct_bytes = 1'000'000'000;
    log.span = std::chrono::hours(24 * 10);
    return log;
}

/// Counts that a test can compute from the configuration. 300 of 1,000 requests are local hits, and
/// 200 peer hits if proxies share. The scheme determines false hits, messages and bytes.
inline SimulationCounts made_up(const SimulationConfig& config) {
    SimulationCounts out;
    out.requests = 1'000;
    out.bytes = 10'000;
    out.local_hits = 300;
    out.local_hit_bytes = 2'000;
    out.waited_ms = 70'000;
    if (config.scheme == Scheme::none) return out;
    out.peer_hits = 200;
    out.peer_hit_bytes = 1'000;
    out.waited_ms = 50'000;
    if (config.scheme == Scheme::icp) {
        out.query_messages = 1'400 * (config.proxies - 1);
        out.query_bytes = out.query_messages * 70;
    } else if (config.scheme == Scheme::summary) {
        out.peer_hits = config.announce_changed > 0.01 ? 150 : 199;
        out.false_misses = 200 - out.peer_hits;
        out.false_hits_collision = 1;
        out.false_hits_evicted = 1;
        out.announcements = std::max<std::uint64_t>(
            static_cast<std::uint64_t>(1 / config.announce_changed) / 10, 1);
        out.announcement_bytes = config.kind == summary::Kind::quotient ? 40 : 100;
        out.query_messages = 2;
        out.query_bytes = 280;
        out.summary_bytes = 123'456;
        if (config.copy == proxy::CopyPolicy::second_use) out.peer_hits += 10;
    } else if (config.scheme == Scheme::paper_bloom) {
        out.false_hits_collision = config.proxies;
        out.announcements = 500;
        out.announcement_bytes = 9'000;
    }
    return out;
}

/// A study with the usual rows, all run.
inline Study finished_study(const LogFacts& log = small_log()) {
    auto study = plan_study(log, completed({}, log));
    for (auto& row : study.rows) row.counts = made_up(row.config);
    return study;
}

/// A study whose rows have these counts, and the combined simulation of the advice.
template <typename Counts>
std::pair<Study, Advice> advised(const Counts& counts, const LogFacts& log = small_log(),
                                 const StudyOptions& options = {}) {
    auto study = plan_study(log, completed(options, log));
    for (auto& row : study.rows) row.counts = counts(row.config);
    for (const auto& each : combinations(study)) {
        const auto own = study.add(each, study.tables.front().cache);
        study.rows[own].counts = counts(each);
    }
    const auto advice = advise(study);
    return {std::move(study), *advice};
}

}  // namespace measure
