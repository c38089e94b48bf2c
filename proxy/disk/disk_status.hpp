#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proxy {

/// The numbers of one directory of the disk tier.
struct DiskCounters {
    std::uint64_t cap_bytes = 0;  // as configured, or three segments
    std::uint64_t bytes = 0;      // of all files
    std::uint64_t segments = 0;
    std::uint64_t queued_bytes = 0;                         // waiting to be written
    std::uint64_t written = 0, failed = 0;                  // records to be written
    std::uint64_t refused_queue_full = 0;                   // of them, as too much waited
    std::uint64_t refused_paused = 0;                       // as an error was not long ago
    std::uint64_t refused_too_large = 0;                    // for a segment
    std::uint64_t refused_off = 0;                          // as it is not used any more
    std::uint64_t written_bytes = 0, readmitted_bytes = 0;  // the latter is in the former
    std::uint64_t reclaimed = 0;                            // segments given back
    std::uint64_t read_at_once = 0, read_by_threads = 0;    // records
    std::uint64_t read_refused = 0;                         // too many waited
    std::uint64_t read_failed = 0;                          // errors of the disk, bad checksums
    std::uint64_t recovered = 0;                            // records found at the start
    std::uint64_t recovered_doubtful = 0;  // of them, to be validated: purges may have been lost
    std::uint64_t recovered_torn = 0;      // not found, as a kill had cut them off
    std::uint64_t found_unsealed = 0;      // files that had not been ended
    std::uint64_t found_damaged = 0;       // in which records could not be read
    std::uint64_t found_unreadable = 0;    // no segments, or the system gave errors
    std::uint64_t found_foreign = 0;       // of another directory
};

/// One directory of the disk tier, as it is shown.
struct DiskStatus : DiskCounters {
    /// `paused`: nothing is written for a while after an error; reading goes on. `off`: too many
    /// errors, or it is gone: it is not used, see DiskTier::Config::retry.
    enum class State : std::uint8_t { loading, ready, paused, off };

    std::string path;
    State state = State::loading;
    std::string last_error;      // plain words, empty: none
    double loading_seconds = 0;  // how long reading what is there took
};

constexpr std::string_view name(DiskStatus::State state) {
    switch (state) {
        case DiskStatus::State::loading:
            return "loading";
        case DiskStatus::State::ready:
            return "ready";
        case DiskStatus::State::paused:
            return "paused";
        case DiskStatus::State::off:
            return "off";
    }
    return "unknown";
}

}  // namespace proxy
