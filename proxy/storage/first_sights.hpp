#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/rule.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// When this node, or a peer, first saw content whose origin states no Last-Modified. `min_age` of
/// a rule counts from there. Content is a URL and an ETag, so other content at a URL begins anew.
///
/// The table takes kMostBytes with the first content, and never more. It has sets of kWays places.
/// In a full set the content goes that was in use for the shortest time: between its first sight
/// and its last request. So a flood of URLs displaces little but itself. What goes begins anew at
/// its next request, so a loss makes content look younger, never older. Any thread.
class FirstSights {
public:
    static constexpr std::size_t kWays = 8, kSets = 8192;
    static constexpr std::size_t kMost = kWays * kSets;
    /// A clock before this time is unset, and nothing is noted.
    static constexpr WallTime kEarliest = std::chrono::sys_days(std::chrono::year(2024) / 1 / 1);

    /// One content. `last`: the time of the last request for it.
    struct Sight {
        summary::KeyHash content;
        WallTime first{}, last{};

        bool is_empty() const { return first == WallTime(); }
        bool operator==(const Sight&) const = default;
    };
    static constexpr std::size_t kMostBytes = kMost * sizeof(Sight);

    /// `hasher` outlives this.
    explicit FirstSights(const summary::KeyHasher& hasher) : hasher_(hasher) {}

    /// A response under the judgement of `rule`. `uri`: of its target, as CacheKey has it.
    struct JudgedResponse {
        const Rule& rule;
        std::string_view uri;
        unsigned status;
        Fields fields;
    };
    /// Notes a request for this content, which this node had at `had`, and returns its first sight.
    /// nullopt: its age does not count from there (min_age.hpp), or the clock is unset.
    std::optional<WallTime> note(const JudgedResponse& response, WallTime had, WallTime now);
    /// The same without noting anything. nullopt also for content that was never noted.
    std::optional<WallTime> find(const JudgedResponse& response, WallTime now) const;
    /// Takes the statement of a peer about the content of its response (stated_first_seen()).
    void learn(const JudgedResponse& response, WallTime now);

    /// Grows with each new content, and with each earlier first sight.
    std::uint64_t changes() const;
    std::vector<Sight> all() const;
    /// Takes what all() has returned in an earlier process. Times after `now` count as now.
    void restore(std::span<const Sight> sights, WallTime now);

private:
    std::optional<summary::KeyHash> content_of(const JudgedResponse& response, WallTime now) const;
    std::span<Sight> set_of(summary::KeyHash content);
    WallTime take(const Sight& sight);

    const summary::KeyHasher& hasher_;
    mutable std::mutex mutex_;
    std::vector<Sight> sights_;  // kSets sets; empty before the first content
    std::uint64_t changes_ = 0;
};

}  // namespace proxy
