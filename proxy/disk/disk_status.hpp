#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proxy {

/// One directory of the disk tier, as it is shown.
struct DiskStatus {
    /// `paused`: nothing is written for a while after an error; reading goes on. `off`: too many
    /// errors, it is not used any more.
    enum class State : std::uint8_t { loading, ready, paused, off };

    std::string path;
    State state = State::loading;
    std::string last_error;       // plain words, empty: none
    std::uint64_t cap_bytes = 0;  // as configured
    std::uint64_t bytes = 0;      // of all files
    std::uint64_t segments = 0;
    std::uint64_t queued_bytes = 0;                         // waiting to be written
    std::uint64_t written = 0, refused = 0, failed = 0;     // records to be written
    std::uint64_t written_bytes = 0, readmitted_bytes = 0;  // the latter is in the former
    std::uint64_t reclaimed = 0;                            // segments given back
    std::uint64_t read_at_once = 0, read_by_threads = 0;    // records
    std::uint64_t read_refused = 0;                         // too many waited
    std::uint64_t read_failed = 0;                          // errors of the disk, bad checksums
    std::uint64_t recovered = 0;                            // records found at the start
    double loading_seconds = 0;                             // how long that took
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
