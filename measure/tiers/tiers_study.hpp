#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/study/run_parts.hpp"
#include "measure/study/study.hpp"
#include "measure/tiers/tiers_config.hpp"

namespace measure {

/// One simulation, and its counts after it was run.
struct TiersRow {
    std::string title;
    TiersConfig config;
    std::optional<TierCounts> counts;
};

/// Rows that are compared with each other.
struct TiersGroup {
    enum class Topic : std::uint8_t {
        one_cache,  // a single cache as large as the disk: eviction orders
        memory,     // memory before the disk: eviction orders
        disk,       // the disk behind the node's memory: ways to free space, and admission
    };
    Topic about = Topic::one_cache;
    std::vector<TiersRow> rows;
};

/// All simulations with a disk of one size.
struct TiersTable {
    CacheSize disk;
    std::uint64_t disk_bytes = 0, memory_bytes = 0;
    std::vector<TiersGroup> groups;

    /// The counts of a node with default settings: S3-FIFO in memory, segments, second_request.
    /// Null if that row was not run.
    const TierCounts* as_nodes() const;
    /// The reference of savings and losses: the node's disk that admits everything. Null if that
    /// row was not run.
    const TierCounts* everything() const;
};

/// A study of one proxy's memory and disk for a log.
struct TiersStudy {
    LogFacts log;
    std::vector<TiersTable> tables;
    bool stopped = false;
};

/// Share of the disk that the memory takes by default.
inline constexpr double kUsualMemoryPart = 0.05;
inline constexpr double kUsualDiskParts[] = {0.01, 0.05, 0.10};  // of the log's distinct bytes

/// Returns the share of written bytes that are saved in comparison with a disk that admits
/// everything; negative for additional writes, 0 if neither wrote.
double writes_saved(const TierCounts& counts, const TierCounts& everything);

/// `disks`: empty for kUsualDiskParts. `memory`: a part of it is a share of the disk. `base`:
/// settings of all rows except those that a row compares; its sizes are ignored.
TiersStudy plan_tiers(const LogFacts& log, std::vector<CacheSize> disks, const CacheSize& memory,
                      const TiersConfig& base);

/// Runs the simulations as run_study() does.
void run_tiers(const Trace& trace, TiersStudy& study, unsigned jobs,
               const std::function<bool(const StudyProgress&)>& progress);

/// The conclusion for a disk as a node has it: a sentence for each size, and whether to admit
/// everything instead. Empty if those rows were not run.
std::string tiers_words(const TiersStudy& study);
/// The tables and the conclusion, at most 100 columns wide. `colour` adds terminal escapes.
std::string tiers_text(const TiersStudy& study, bool colour);
/// The same as one JSON object, ending in a newline.
std::string tiers_json(const TiersStudy& study);

}  // namespace measure
