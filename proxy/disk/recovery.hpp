#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// What a directory of segments holds after a restart.
struct Recovered {
    std::vector<SegmentPtr> segments;  // oldest first
    std::uint64_t next_seq = 1;        // after all that were seen
    std::uint32_t next_segment = 1;

    std::uint64_t records = 0;     // given
    std::uint64_t superseded = 0;  // there is a later one of the same variant
    std::uint64_t purged = 0;      // a tombstone says so
    std::uint64_t scanned = 0;     // segments without a good footer
    std::uint64_t damaged = 0;     // of these, in which something could not be read
    std::uint64_t unreadable = 0;  // files that are no segments of this directory, or give errors
};

struct RecoveredRecord {
    const FooterEntry& entry;
    DiskPlace place;
    /// Nobody knows whether it was purged, as a segment that is not older lost something: to be
    /// validated before it is used.
    bool doubtful = false;
};

/// Reads the segments' footers, newest first, and of those without a good one the records' heads;
/// gives each record that counts once, the last of its variant. Bodies are not read: bytes are
/// proved when they are used. Errors in files are counted and cost what they hold, no more. Files
/// without a readable beginning are removed, as they would take room beside the cap.
/// Fails only when the directory cannot be read.
DiskResult<Recovered> recover(DiskCalls& calls, const std::filesystem::path& directory,
                              std::uint64_t directory_id,
                              const std::function<void(const RecoveredRecord&)>& take);

}  // namespace proxy
