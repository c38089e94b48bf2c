#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/study/run_parts.hpp"
#include "measure/study/study.hpp"
#include "measure/tiers/tiers_config.hpp"

namespace measure {

/// One simulation, and, when it was run, what was counted.
struct TiersRow {
    std::string title;
    TiersConfig config;
    std::optional<TierCounts> counts;
};

/// Rows that stand together.
struct TiersGroup {
    enum class About : std::uint8_t {
        one_cache,  // as large as the disk: what goes first
        memory,     // before the disk: what goes first there
        disk,       // behind the node's memory: how it gives room back, and what it takes
    };
    About about = About::one_cache;
    std::vector<TiersRow> rows;
};

/// All that is tried with a disk of one size.
struct TiersTable {
    CacheSize disk;
    std::uint64_t disk_bytes = 0, memory_bytes = 0;
    std::vector<TiersGroup> groups;

    /// What the node does, by default: S3-FIFO in memory, segments, second_request; null when it
    /// was not run.
    const TierCounts* as_nodes() const;
    /// What savings and losses are against: the node's disk that takes everything; null when it
    /// was not run.
    const TierCounts* everything() const;
};

/// What a proxy's cache does with a log, by what goes first and what is written to the disk.
struct TiersStudy {
    LogFacts log;
    std::vector<TiersTable> tables;
    bool stopped = false;
};

/// Of the disk, when it is not said how large the memory is.
inline constexpr double kUsualMemoryPart = 0.05;
inline constexpr double kUsualDiskParts[] = {0.01, 0.05, 0.10};  // of the log's distinct bytes

/// The part of the bytes written that is spared beside a disk that takes everything; below 0:
/// added. 0 when nothing is written at all.
double writes_saved(const TierCounts& counts, const TierCounts& everything);

/// `disks`: empty for kUsualDiskParts. `memory`: a part of it is one of the disk. `base`: what
/// holds in all rows but where they are compared in it; its sizes do not count.
TiersStudy plan_tiers(const LogFacts& log, std::vector<CacheSize> disks, const CacheSize& memory,
                      const TiersConfig& base);

/// As run_study(): see there.
void run_tiers(const Trace& trace, TiersStudy& study, unsigned jobs,
               const std::function<bool(const StudyProgress&)>& progress);

/// What the tables come to, for a disk as a node has it: a sentence for each size, and whether to
/// take everything instead. Empty when nothing of that was run.
std::string tiers_words(const TiersStudy& study);
/// The tables, and the words, at most 100 columns wide; `colour` adds terminal escapes, nothing
/// else.
std::string tiers_text(const TiersStudy& study, bool colour);
/// The same as one JSON object, ending in a newline.
std::string tiers_json(const TiersStudy& study);

}  // namespace measure
