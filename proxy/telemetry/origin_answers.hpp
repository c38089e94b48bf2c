#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace proxy {

/// Answers of an origin, counted by their status. `server_errors` are 5xx, `too_many` are 429; all
/// answers include both. Requests without an answer do not count.
struct OriginAnswerCounts {
    std::uint64_t answers = 0, server_errors = 0, too_many = 0;

    OriginAnswerCounts& operator+=(const OriginAnswerCounts& other);
    bool operator==(const OriginAnswerCounts&) const = default;
};

/// So many of the answers are 5xx or 429 that somebody should look at the origin: more than a tenth
/// of at least 20.
bool is_failing(const OriginAnswerCounts& recent);

/// The answers of the origin of one site.
struct SiteAnswers {
    std::string place;          // host:port of the last server that answered, or kForwardTargets
    OriginAnswerCounts total;   // since the start of the node
    OriginAnswerCounts recent;  // of the last five minutes, in steps of one minute

    SiteAnswers& operator+=(const SiteAnswers& other);
};
using AnswersBySite = std::map<std::string, SiteAnswers, std::less<>>;

/// Adds the answers of one site, or to those of `other` if `to` has kMaxSites sites.
void add_answers(AnswersBySite& to, const std::string& site, const SiteAnswers& answers);

/// Counts the answers of origins by site, of one worker. kMaxSites sites are kept; further ones add
/// up under `other`. A site takes about 500 bytes. One thread.
class OriginAnswers {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMaxSites = 1024;
    static constexpr const char* kForwardTargets = "forward";
    static constexpr const char* kOthers = "other";

    /// `site`: as UpstreamTarget::site. `host` and `port` are the server that answered. Forward
    /// targets are kept without them, because open paths of the admin port show the place, and
    /// clients chose the target. Times must not fall.
    void note(std::string_view site, std::string_view host, std::uint16_t port, unsigned status,
              Time now);
    AnswersBySite by_site(Time now) const;

private:
    using Minute = std::chrono::steady_clock::duration::rep;  // since the epoch of the clock
    static constexpr std::size_t kMinutes = 5;
    struct Slot {
        Minute minute = -1;
        OriginAnswerCounts counts;
    };
    struct SiteAnswerCount {
        std::string host;
        std::uint16_t port = 0;
        OriginAnswerCounts total;
        std::array<Slot, kMinutes> slots;  // index: minute % kMinutes
    };
    static Minute minute_of(Time time);

    std::map<std::string, SiteAnswerCount, std::less<>> sites_;
};

}  // namespace proxy
