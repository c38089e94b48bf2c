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

/// What a study has to know of the log beforehand.
struct LogFacts : Reading {
    std::string title;  // the file, and its format; or what it is made of
    bool synthetic = false;
    std::uint64_t requests = 0, clients = 0, objects = 0;
    std::uint64_t bytes = 0;           // of all answers
    std::uint64_t distinct_bytes = 0;  // of each object once
    std::chrono::milliseconds span{0};
};
/// Sizes as the simulations of this base take them.
LogFacts facts_of(const Trace& trace, const SimulationConfig& base);

/// One simulation: what is asked, and, when it was run, what was counted.
struct StudyRow {
    SimulationConfig config;
    CacheSize cache;  // what config.cache_bytes come from
    std::optional<SimulationCounts> counts;
    std::string refused;  // why it cannot be run
};

/// Rows that stand together, in this order, each with the words that tell it from the others.
struct StudyTable {
    enum class About : std::uint8_t {
        schemes,    // all of them
        staleness,  // the same at several thresholds
        announce,   // our own, announcing at different times
        copies,     // what becomes of a peer's copy, and what goes first
        asked,      // what the command line asked for
    };
    About about = About::schemes;
    std::size_t proxies = 0;
    CacheSize cache;
    struct Line {
        std::string title;
        std::size_t row = 0;  // of Study::rows
    };
    std::vector<Line> lines;
};

/// Which simulations a log is put through, to be read as tables; no simulation is run twice.
struct Study {
    LogFacts log;
    std::vector<StudyRow> rows;  // what matters most first
    std::vector<StudyTable> tables;
    bool stopped = false;

    const StudyRow& row(const StudyTable::Line& line) const { return rows[line.row]; }
    /// The counts of exactly this simulation, if it is part of it and was run.
    const SimulationCounts* counts(const SimulationConfig& config) const;
    const StudyTable* table(StudyTable::About about) const;

    /// The row of this simulation, which is added when there is none.
    std::size_t add(const SimulationConfig& config, const CacheSize& cache);
};

/// The first of each list is the one for which curves are drawn and advice is given.
struct StudyOptions {
    std::vector<std::size_t> proxies;  // empty: kUsualProxies, as far as there are clients for them
    std::vector<CacheSize> caches;     // empty: kUsualParts
    SimulationConfig base;             // what holds for all; of summaries, what holds for ours
};

inline constexpr std::size_t kUsualProxies[] = {16, 4, 64, 256, 1000};
inline constexpr double kUsualParts[] = {0.10, 0.01, 0.05, 0.20};
inline constexpr double kThresholds[] = {0.001, 0.01, 0.02, 0.05, 0.10};  // the paper's
inline constexpr double kPaperThreshold = 0.01;
inline constexpr std::uint64_t kPaperObjectMax = 250'000;
/// What is tried of `summary.announce.delay`; the last is the longest that a node takes.
inline constexpr std::chrono::seconds kAnnounceDelays[] = {
    std::chrono::seconds(1), std::chrono::seconds(10), std::chrono::minutes(1),
    std::chrono::minutes(10), std::chrono::hours(1)};
/// The longest that is advised, and thresholds are tried with: what changes meanwhile at the origin
/// is not simulated.
inline constexpr std::chrono::seconds kLongestAdvised = std::chrono::minutes(1);
/// Above all delays, so that only the threshold counts.
inline constexpr std::chrono::milliseconds kNoDelay = std::chrono::hours(24 * 3650);

/// With its lists filled, and nothing twice in them.
StudyOptions completed(StudyOptions options, const LogFacts& log);

/// All schemes at the first size for each number of proxies, and for the first number at each size;
/// for the first of both also the curves. Precondition: completed options.
Study plan_study(const LogFacts& log, const StudyOptions& options);
/// The paper's own simulation, for the first of both: LRU, every copy stored, no object above
/// kPaperObjectMax, each representation at each threshold; ours beside them, at the same.
Study plan_paper(const LogFacts& log, const StudyOptions& options);
/// The base alone, for each number of proxies at each size.
Study plan_single(const LogFacts& log, const StudyOptions& options);

/// The base with so many proxies and such caches.
SimulationConfig config_for(const LogFacts& log, const StudyOptions& options, std::size_t proxies,
                            const CacheSize& cache);

}  // namespace measure
