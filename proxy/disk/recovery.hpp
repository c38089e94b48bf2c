#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <span>

#include "proxy/disk/segment.hpp"
#include "proxy/disk/tombstones.hpp"

namespace proxy {

/// What is on the disk of one key, as it is found at a start.
struct RecoveredKey {
    summary::KeyHash key;
    const FooterEntry& entry;
    DiskPlace place;
    /// Nobody knows whether it was purged, as a segment that is not older lost something: to be
    /// validated before it is used.
    bool doubtful = false;
};

/// Who is told what recover() finds.
struct RecoveryHooks {
    /// On several threads at once.
    std::function<summary::KeyHash(std::string_view)> hash_of;
    /// A segment, the newest first, before its records. False when it is not wanted: its file is
    /// removed.
    std::function<bool(SegmentPtr)> opened;
    /// A tombstone, before the records that it may cover.
    std::function<void(const FooterEntry&)> tombstone;
    /// Whether the record counts as far as is known to the asker.
    std::function<bool(const FooterEntry&, summary::KeyHash)> counts;
    /// What is found, in batches of kRecoveredBatch at most.
    std::function<void(std::span<RecoveredKey>)> recovered;
    /// True: no more. Asked between segments.
    std::function<bool()> stopped;
};

inline constexpr std::size_t kRecoveredBatch = 4096;
inline constexpr unsigned kRecoveryThreads = 4;

/// What recover() came across.
struct RecoveredCounts {
    std::uint64_t records = 0;     // given
    std::uint64_t superseded = 0;  // there is a later one of the same variant
    std::uint64_t purged = 0;      // `counts` said no
    std::uint64_t doubtful = 0;    // given, and nobody knows whether they were purged
    std::uint64_t scanned = 0;     // segments without a good footer
    std::uint64_t torn = 0;        // of these, in which the last record was not whole
    std::uint64_t damaged = 0;     // of these, in which something else could not be read
    std::uint64_t unreadable = 0;  // files that are no segments, or give errors
    std::uint64_t foreign = 0;     // segments of another directory
};
struct Recovered : RecoveredCounts {
    /// The newest segment, if nothing in it was lost. Its records have been given.
    std::optional<SegmentEnd> last;
};

/// Reads the segments' footers, newest first, and of those without a good one the records' heads;
/// gives each record that counts once, the last of its variant. Bodies are not read, but that of a
/// last record without a footer: bytes are proved when they are used. Errors in files are counted
/// and cost what they hold, no more. Files without a good beginning are removed, as they would take
/// room beside the cap; not those of another cache or a newer format, nor what the system cannot
/// read. Files are read by so many threads beside the caller's, which calls all
/// hooks but hash_of; by its own if that is less than 2. Fails only when the directory cannot be
/// read.
DiskResult<Recovered> recover(DiskCalls& calls, const std::filesystem::path& directory,
                              std::uint64_t directory_id, unsigned threads,
                              const RecoveryHooks& hooks);

/// The number for the next segment of a directory: after those of all files there. Errors as
/// above.
DiskResult<std::uint32_t> next_segment_number(const std::filesystem::path& directory);

/// Removes all segments of a directory.
boost::system::error_code remove_segments(DiskCalls& calls, const std::filesystem::path& directory);

}  // namespace proxy
