#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <span>

#include "proxy/disk/disk_status.hpp"
#include "proxy/disk/segment.hpp"
#include "proxy/disk/tombstones.hpp"

namespace proxy {

/// A record that recovery found.
struct RecoveredKey {
    summary::KeyHash key;
    const FooterEntry& entry;
    RecordLocation place;
    /// The record may have been purged, as a segment of its age or newer lost something. The store
    /// validates it before use.
    bool doubtful = false;
};

/// The receivers of the results of recover().
struct RecoveryHooks {
    /// Called on several threads at once.
    std::function<summary::KeyHash(std::string_view)> hash_of;
    /// A segment, the newest first, before its records. False if it is unwanted; its file is then
    /// removed.
    std::function<bool(SegmentPtr)> opened;
    /// A tombstone, before the records that it may cover.
    std::function<void(const FooterEntry&)> tombstone;
    /// The record counts, as far as the receiver knows.
    std::function<bool(const FooterEntry&, summary::KeyHash)> counts;
    /// The records that count, in batches of at most kRecoveredBatch.
    std::function<void(std::span<RecoveredKey>)> recovered;
    /// True ends the recovery. Called between segments.
    std::function<bool()> stopped;
};

inline constexpr std::size_t kRecoveredBatch = 4096;
inline constexpr unsigned kRecoveryThreads = 4;

/// The result of a recovery.
struct RecoveryResult : DiskRecoveryCounters {
    std::uint64_t superseded = 0;  // replaced by a later one of the variant
    std::uint64_t purged = 0;      // rejected by `counts`
    /// The newest segment, if it is complete. Its records have been given.
    std::optional<SegmentEnd> last;
};

/// Reads the footers of all segments, newest first, and gives the last record of each variant. A
/// segment without a good footer is searched for the heads of its records. Bodies stay unread,
/// except that of the last record without a footer; readers verify bytes at their first use.
///
/// A bad file costs its own content and is counted. Files without a good header are removed,
/// because they would take room beside the cap; files of another cache, of a newer format, or
/// unreadable to the system stay. `threads` read files beside the caller, or the caller reads alone
/// if that is less than 2. The caller's thread calls all hooks but hash_of. Fails only if the
/// directory cannot be read.
DiskResult<RecoveryResult> recover(DiskCalls& calls, const std::filesystem::path& directory,
                                   std::uint64_t directory_id, unsigned threads,
                                   const RecoveryHooks& hooks);

/// The number for the next segment of a directory, after all files there. Errors as above.
DiskResult<std::uint32_t> next_segment_number(const std::filesystem::path& directory);

/// Removes all segments of a directory.
boost::system::error_code remove_segments(DiskCalls& calls, const std::filesystem::path& directory);

}  // namespace proxy
