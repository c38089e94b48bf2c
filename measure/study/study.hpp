#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/simulate/simulation.hpp"
#include "measure/study/cache_size.hpp"
#include "measure/trace/trace.hpp"

namespace measure {

/// The facts about the log that a study needs.
struct LogFacts : Reading {
    std::string title;  // the file and its format, or a description of the made-up workload
    bool synthetic = false;
    std::uint64_t requests = 0, clients = 0, objects = 0;
    std::uint64_t bytes = 0;           // of all answers
    std::uint64_t distinct_bytes = 0;  // of each object once
    std::chrono::milliseconds span{0};
};
/// Takes sizes as the simulations of this base take them.
LogFacts facts_of(const Trace& trace, const SimulationConfig& base);

/// One simulation, and its counts after it was run.
struct StudyRow {
    SimulationConfig config;
    CacheSize cache;  // the source of config.cache_bytes
    std::optional<SimulationCounts> counts;
    std::string refused;  // the reason why it cannot be run
};

/// Rows that are compared, in this order, each with the words that distinguish it.
struct StudyTable {
    enum class Topic : std::uint8_t {
        schemes,    // all schemes
        staleness,  // one scheme at several thresholds
        announce,   // hearsay's summaries with several announcement delays
        copies,     // copy policies and eviction orders
        asked,      // the scheme of the command line
    };
    Topic about = Topic::schemes;
    std::size_t proxies = 0;
    CacheSize cache;
    struct Line {
        std::string title;
        std::size_t row = 0;  // of Study::rows
    };
    std::vector<Line> lines;
};

/// The simulations of a log, to be read as tables. Each simulation is run once.
struct Study {
    LogFacts log;
    std::vector<StudyRow> rows;  // the most important first
    std::vector<StudyTable> tables;
    bool stopped = false;

    const StudyRow& row(const StudyTable::Line& line) const { return rows[line.row]; }
    /// The counts of exactly this simulation, or null if it is missing or was not run.
    const SimulationCounts* counts(const SimulationConfig& config) const;
    const StudyTable* table(StudyTable::Topic about) const;

    /// Returns the row of this simulation, and adds it if it is missing.
    std::size_t add(const SimulationConfig& config, const CacheSize& cache);
};

/// The first entry of each list is used for curves and advice.
struct StudyOptions {
    std::vector<std::size_t> proxies;  // empty: kUsualProxies, limited by the number of clients
    std::vector<CacheSize> caches;     // empty: kUsualParts
    SimulationConfig base;  // settings of all rows; of hearsay's rows for its own settings
};

inline constexpr std::size_t kUsualProxies[] = {16, 4, 64, 256, 1000};
inline constexpr double kUsualParts[] = {0.10, 0.01, 0.05, 0.20};
inline constexpr double kThresholds[] = {0.001, 0.01, 0.02, 0.05, 0.10};  // the paper's
inline constexpr double kPaperThreshold = 0.01;
inline constexpr std::uint64_t kPaperObjectMax = 250'000;
/// The values of `summary.announce.delay` that are compared. The last is the longest that a node
/// accepts.
inline constexpr std::chrono::seconds kAnnounceDelays[] = {
    std::chrono::seconds(1), std::chrono::seconds(10), std::chrono::minutes(1),
    std::chrono::minutes(10), std::chrono::hours(1)};
/// The longest delay that is advised and combined with thresholds. Changes at the origin during a
/// delay are not simulated.
inline constexpr std::chrono::seconds kLongestAdvised = std::chrono::minutes(1);
/// Longer than any delay, so that only the threshold counts.
inline constexpr std::chrono::milliseconds kNoDelay = std::chrono::hours(24 * 3650);

/// Returns the options with filled lists that are free of duplicates.
StudyOptions completed(StudyOptions options, const LogFacts& log);

/// Plans all schemes at the first cache size for each number of proxies, and for the first number
/// at each size; for the first of both also the curves. Precondition: completed options.
Study plan_study(const LogFacts& log, const StudyOptions& options);
/// Plans the paper's own simulation for the first of both: LRU, every copy stored, objects up to
/// kPaperObjectMax, each representation at each threshold; and hearsay's summaries at the same
/// thresholds.
Study plan_paper(const LogFacts& log, const StudyOptions& options);
/// Plans the base alone, for each number of proxies at each size.
Study plan_single(const LogFacts& log, const StudyOptions& options);

/// The base with so many proxies and such caches.
SimulationConfig config_for(const LogFacts& log, const StudyOptions& options, std::size_t proxies,
                            const CacheSize& cache);

}  // namespace measure
