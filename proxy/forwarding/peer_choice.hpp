#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "protocol/peer_view.hpp"
#include "proxy/http/outcome.hpp"

namespace proxy {

inline constexpr std::size_t kMaxPeersAsked = 2;  // per local miss
/// Failures in a row that open a peer's breaker, and for how long: doubling up to the maximum. When
/// the time is over one request may try; its success closes the breaker.
inline constexpr unsigned kBreakerFailures = 3;
inline constexpr std::chrono::milliseconds kBreakerFirst{500};
inline constexpr std::chrono::milliseconds kBreakerMax{8000};
/// A peer most of whose last answers were false hits is left alone for a while: its summary does
/// not hold what it claims.
inline constexpr double kDistrustRate = 0.5;
inline constexpr unsigned kDistrustAfter = 32;  // answers
inline constexpr std::chrono::seconds kDistrustFor{10};

/// What one worker has learnt about one peer by asking it. Functions of (state, event, now); one
/// thread.
class PeerRecord {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Counts {
        std::uint64_t asked = 0, hits = 0, false_hits = 0, stale_hits = 0, refused = 0,
                      failures = 0;
        std::uint64_t given = 0;  // answers of ours out of the store: bodies, parts, heads

        Counts& operator+=(const Counts& other);
    };

    bool may_ask(Time now) const { return now >= closed_until_; }
    Time closed_until() const { return closed_until_; }
    /// Failures in a row have opened the breaker, at least once.
    bool broken() const { return failures_in_row_ >= kBreakerFailures; }
    /// Lower is better: round trip to the head, weighed by how often it was in vain and by what is
    /// under way.
    double cost() const;

    void asked();
    /// The exchange's end, once for each asked(). `round_trip`: to the head; ignored for failures.
    void ended(PeerVerdict verdict, std::chrono::nanoseconds round_trip, Time now);

    const Counts& counts() const { return counts_; }
    void gave() { ++counts_.given; }

private:
    Counts counts_;
    Time closed_until_{};
    double round_trip_seconds_ = 0.001;  // moving average
    double false_rate_ = 0;              // moving average
    unsigned answers_ = 0;               // since the last distrust
    unsigned failures_in_row_ = 0;
    unsigned under_way_ = 0;
};

/// Some peers, across reloads that change their order, and with it their bits.
using PeerNames = std::vector<std::string>;
/// Those of them that are peers now, as bits of `view`.
std::uint64_t peers_named(const PeerNames& names, const protocol::PeerView& view);

/// Which peers to ask, best first: those in `candidates` (bit = index) that may be asked, at most
/// kMaxPeersAsked.
struct PeerChoice {
    std::array<std::size_t, kMaxPeersAsked> peers{};
    std::size_t count = 0;
};
PeerChoice choose_peers(std::uint64_t candidates, std::span<const PeerRecord> records,
                        PeerRecord::Time now);

}  // namespace proxy
