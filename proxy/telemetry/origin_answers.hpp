#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/constants.hpp"

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

/// How the last request to an origin ended.
enum class OriginEnd : std::uint8_t {
    answered,
    server_error,  // it answered 5xx
    unanswered,    // no connection, no TLS, or no response
};

/// After this many requests in a row without a good answer the origin is at fault.
inline constexpr std::uint64_t kOriginFaultAfter = 3;

/// The requests since the last good answer of an origin, and what clients got in its place.
struct OriginOutage {
    using Time = std::chrono::steady_clock::time_point;

    std::uint64_t requests = 0;           // in a row, without a good answer
    Time since{}, last{};                 // the first and the last of them
    OriginEnd end = OriginEnd::answered;  // of the last
    std::string_view reason;              // of the last: a word of FetchError; empty: its status
    unsigned status = 0;                  // of the last
    Time answered_at{};                   // the last good answer
    std::uint64_t stale_served = 0, errors_served = 0;

    /// Counts one request. `why` must be a lasting name.
    void note(OriginEnd how, std::string_view why, unsigned code, Time now);
    /// Joins the records of two workers. A good answer of one ends what the other saw before it.
    OriginOutage& operator+=(const OriginOutage& other);
    /// `answered` while the origin is well, or was in trouble for less than kOriginFaultAfter.
    OriginEnd state() const { return requests < kOriginFaultAfter ? OriginEnd::answered : end; }
};

/// The answers of the origin of one site.
struct SiteAnswers {
    std::string place;          // host:port of the last server that was asked, or kForwardTargets
    OriginAnswerCounts total;   // since the start of the node
    OriginAnswerCounts recent;  // of the last five minutes, in steps of one minute
    OriginOutage outage{};

    SiteAnswers& operator+=(const SiteAnswers& other);
};
/// The fault of an origin in one sentence: which, since when, why, and what clients get meanwhile.
/// Empty without a fault. `site`: as in AnswersBySite.
std::string fault_text(const std::string& site, const SiteAnswers& answers, OriginOutage::Time now);

using AnswersBySite = std::map<std::string, SiteAnswers, std::less<>>;

/// Adds the answers of one site, or to those of `other` if `to` has kMaxSites sites.
void add_answers(AnswersBySite& to, const std::string& site, const SiteAnswers& answers);

/// Counts the answers of origins by site, of one worker. kMaxSites sites are kept; further ones add
/// up under `other`. A site takes about 500 bytes, and 8 for each open request. One thread.
class OriginAnswers {
    struct SiteAnswerCount;

public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMaxSites = 1024;
    static constexpr const char* kForwardTargets = "forward";
    static constexpr const char* kOthers = "other";

    /// A request that is open for `silence`, and twice as long as the slowest answer of late,
    /// counts as unanswered until it ends, unless the origin has answered another one since it
    /// began.
    explicit OriginAnswers(std::chrono::nanoseconds silence = kOriginSilence) : silence_(silence) {}
    OriginAnswers(const OriginAnswers&) = delete;
    OriginAnswers& operator=(const OriginAnswers&) = delete;

    /// An open request. It ends with this object, which `answers` must outlive.
    class Open {
    public:
        /// The arguments are those of note().
        Open(OriginAnswers& answers, std::string_view site, std::string_view host,
             std::uint16_t port, Time began);
        ~Open();
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;

    private:
        SiteAnswerCount* const of_site_;  // null: of a forward target, which is not judged
        const Time began_;
    };

    /// `site`: as UpstreamTarget::site. `host` and `port` are the server that was asked. Forward
    /// targets are kept without them, because open paths of the admin port show the place, and
    /// clients chose the target. Times must not fall.
    void note(std::string_view site, std::string_view host, std::uint16_t port, unsigned status,
              Time now);
    /// Counts an answer after which the request went to another server of the group. The end there
    /// is that of the request, so this one says nothing about an outage.
    void note_replaced(std::string_view site, std::string_view host, std::uint16_t port,
                       unsigned status, Time now);
    /// Counts a request that got no response from any server. `reason`: a lasting word of
    /// FetchError. Forward targets are not judged, as clients choose them.
    void note_failure(std::string_view site, std::string_view host, std::uint16_t port,
                      std::string_view reason, Time now);
    /// A client got a stored response, or an error, in place of an answer of the origin. Counts
    /// during an outage alone.
    void stood_in(std::string_view site, bool is_stale);
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
        OriginOutage outage;
        std::vector<Time> open = {};  // the begins of requests
        Time::duration slowest{0};    // answer of late
    };
    OriginOutage outage_of(const SiteAnswerCount& counted, Time now) const;
    static void count(SiteAnswerCount& counted, unsigned status, Time now);
    SiteAnswerCount& counted_at(std::string_view site, std::string_view host, std::uint16_t port);
    static Minute minute_of(Time time);

    const std::chrono::nanoseconds silence_;
    std::map<std::string, SiteAnswerCount, std::less<>> sites_;
};

}  // namespace proxy
