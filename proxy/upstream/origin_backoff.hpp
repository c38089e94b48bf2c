#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// The first pause after a 429 or 503 without Retry-After, and the longest; each one is twice as
/// long as the one before.
inline constexpr std::chrono::seconds kBackoffFirst{1};
inline constexpr std::chrono::seconds kBackoffMost{30};
/// A Retry-After counts up to here.
inline constexpr std::chrono::minutes kRetryAfterMost{10};
inline constexpr std::size_t kMaxBackoffs = 1024;  // more places get no pause

/// An error of the origin that takes this long, or longer, gets a pause, too.
inline constexpr std::chrono::milliseconds kSlowTrouble{500};
/// After so many such errors of different resources, with no other answer between them, the place
/// gets the pause.
inline constexpr unsigned kSlowResources = 3;

/// The places that have answered 429 or 503 lately, or with other errors slowly. While a pause
/// lasts, requests with a stored response in place of the answer do not go there; others still do.
/// At its end one request tries. An answer with another status ends a pause that the place has not
/// named itself. Function of (state, event, now), by backoff_key(). One thread.
class OriginBackoff {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// True: no place has a pause, so nobody need ask.
    bool empty() const { return places_.empty(); }
    /// May a request go out that has a stand-in? The one that ends a pause tries: it begins another
    /// pause, and the next request goes at the end of that one.
    bool may_ask(const std::string& place, Time now);
    /// The place has answered 429 or 503. `began`: the time of the request. Answers to requests
    /// that were on their way together lengthen the pause once.
    void refused(const std::string& place, std::optional<std::chrono::seconds> retry_after,
                 Time began, Time now);
    /// A resource of the place has answered with another error, which took kSlowTrouble or longer.
    /// The pause is for the resource, and for the place after kSlowResources of them. `resource`: a
    /// name that no place has.
    void failed_slowly(const std::string& place, const std::string& resource, Time began, Time now);
    /// The pause is because of such errors, and has ended kBackoffMost ago at most: the request
    /// that ends it may wait long. Later nothing is known of the place.
    bool is_slow(const std::string& place, Time now) const;
    /// The place has answered in another way.
    void answered(const std::string& place, Time now);

private:
    struct Pause {
        Time until{};
        Time noted{};
        std::chrono::seconds length{0};
        bool is_stated = false;  // by Retry-After
        bool is_slow = false;    // by failed_slowly()
        unsigned slow = 0;       // resources of a place that failed slowly, one after the other
        std::size_t last = 0;    // hash of the last of them
    };
    Pause* find(const std::string& place, Time now);

    std::unordered_map<std::string, Pause> places_;
};

/// The requests that share a pause: those to one origin for one host, under one rule. `rule`: its
/// name; empty: none.
std::string backoff_key(const UpstreamTarget& origin, std::string_view host, std::string_view rule);

/// The statuses by which an origin asks for fewer requests (RFC 6585 §4, RFC 9110 §15.6.4).
constexpr bool asks_for_pause(unsigned status) {
    return status == 429 || status == 503;
}

}  // namespace proxy
