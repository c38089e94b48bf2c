#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proxy {

/// The redirects by which the origin of one site led clients to one host past the cache.
struct LeavingRedirect {
    std::string site, host;
    std::uint64_t last_hour = 0;
    bool operator==(const LeavingRedirect&) const = default;
};

/// The same in one sentence, without its full stop.
std::string leaving_text(const LeavingRedirect& redirect);

/// A host with its port, as pages and terminals may show it: other characters than those of names
/// and addresses become `?`, and 255 bytes are the most.
std::string shown_host(std::string_view host);

/// The numbers of one worker, or of several.
struct LeavingCounts {
    /// Sums have the most redirects first.
    std::vector<LeavingRedirect> last_hour;
    std::map<std::string, std::uint64_t, std::less<>> total;  // by site, since the start

    LeavingCounts& operator+=(const LeavingCounts& other);
};

/// Counts redirects of mirrored origins to hosts that no mirror covers, of one worker. The counts
/// of an hour have steps of ten minutes. They know the kMaxPairs pairs of site and host that were
/// seen last, and each takes at most 1 KiB. Totals are kept for kMaxSites sites; further ones add
/// up under `other`. One thread.
class LeavingRedirects {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMaxPairs = 16, kMaxSites = 256;
    static constexpr const char* kOthers = "other";

    /// Times must not fall.
    void note(std::string_view site, std::string_view host, Time now);
    LeavingCounts counts(Time now) const;

private:
    using Step = std::chrono::steady_clock::duration::rep;  // of ten minutes
    static constexpr std::size_t kSteps = 6;
    struct Slot {
        Step step = -1;
        std::uint64_t count = 0;
    };
    struct Pair {
        std::string site, host;
        Time last{};
        std::array<Slot, kSteps> slots = {};  // index: step % kSteps
    };
    Pair& pair_of(std::string_view site, std::string host);
    static Step step_of(Time time);

    std::vector<Pair> pairs_;
    std::map<std::string, std::uint64_t, std::less<>> total_;
};

}  // namespace proxy
