#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proxy {

/// Of the log of segments.
struct DiskLogCounters {
    std::uint64_t cap_bytes = 0;  // as configured, or three segments
    std::uint64_t bytes = 0;      // of all files
    std::uint64_t segments = 0;
    std::uint64_t written_bytes = 0, readmitted_bytes = 0;  // the former includes the latter
    std::uint64_t reclaimed = 0;                            // segments removed
};
/// Of the writer. All but the bytes count records other than tombstones.
struct DiskWriterCounters {
    std::uint64_t queued_bytes = 0;  // waiting to be written
    std::uint64_t written = 0, failed = 0;
    std::uint64_t refused_queue_full = 0;
    std::uint64_t refused_paused = 0;     // in the pause after an error
    std::uint64_t refused_too_large = 0;  // they exceed a quarter of a segment
    std::uint64_t refused_off = 0;        // the directory is off
};
/// Of the reader.
struct DiskReaderCounters {
    std::uint64_t read_at_once = 0, read_by_threads = 0;  // records
    std::uint64_t read_refused = 0;                       // the queue was full
    std::uint64_t read_failed = 0;                        // errors of the disk, bad checksums
};
/// Of the recovery at the start.
struct DiskRecoveryCounters {
    std::uint64_t recovered = 0;           // records
    std::uint64_t recovered_doubtful = 0;  // those to validate, as purges may be lost
    std::uint64_t recovered_torn = 0;      // cut off by a kill
    std::uint64_t found_unsealed = 0;      // files without a footer
    std::uint64_t found_damaged = 0;       // files with unreadable records
    std::uint64_t found_unreadable = 0;    // other files, or errors of the system
    std::uint64_t found_foreign = 0;       // of another directory
};
/// The numbers of one directory of the disk tier.
struct DiskCounters : DiskLogCounters,
                      DiskWriterCounters,
                      DiskReaderCounters,
                      DiskRecoveryCounters {};

/// The status of one directory of the disk tier.
struct DiskStatus : DiskCounters {
    /// `stalled`: a call to the device has not returned for DiskTier::Config::stalled_after.
    /// `paused`: the writer waits after an error, and reading goes on. `off`: the directory is
    /// unused, because it had too many errors or is gone; see DiskTier::Config::retry.
    enum class State : std::uint8_t { loading, ready, stalled, paused, off };

    std::string path;
    State state = State::loading;
    std::string last_error;  // in plain words, or empty
    /// The age of its last occurrence; 0 without an error.
    double last_error_seconds = 0;
    bool last_error_is_full = false;  // it was: no room on the file system, or a quota
    double loading_seconds = 0;       // for the recovery at the start
};

/// An error younger than this is shown although the directory works again.
inline constexpr double kDiskErrorShownSeconds = 3600;

/// The directory had an error lately, in whatever state it is now.
inline bool had_error_lately(const DiskStatus& disk) {
    return !disk.last_error.empty() && disk.last_error_seconds < kDiskErrorShownSeconds;
}

constexpr std::string_view name(DiskStatus::State state) {
    switch (state) {
        case DiskStatus::State::loading:
            return "loading";
        case DiskStatus::State::ready:
            return "ready";
        case DiskStatus::State::stalled:
            return "stalled";
        case DiskStatus::State::paused:
            return "paused";
        case DiskStatus::State::off:
            return "off";
    }
    return "unknown";
}

}  // namespace proxy
