#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/membership/peer_view.hpp"
#include "proxy/http/outcome.hpp"
#include "proxy/telemetry/peer_counters.hpp"
#include "proxy/upstream/false_hits.hpp"
#include "proxy/upstream/round_trip.hpp"
#include "proxy/upstream/time_won.hpp"
#include "summary/peer_set.hpp"

namespace proxy {

inline constexpr std::size_t kMaxPeersAsked = 2;  // per local miss
/// Failures in a row that open a peer's breaker, and for how long: doubling up to the maximum. When
/// the time is over one request may try; its success closes the breaker.
inline constexpr unsigned kBreakerFailures = 3;
inline constexpr std::chrono::milliseconds kBreakerFirst{500};
inline constexpr std::chrono::milliseconds kBreakerMax{8000};
/// A peer most of whose last answers were in vain is left alone for a while: its summary does not
/// hold what it claims (false hits), or what it gives may not be used.
inline constexpr double kDistrustRate = 0.5;
inline constexpr unsigned kDistrustAfter = 32;  // answers
inline constexpr std::chrono::seconds kDistrustFor{10};
/// A peer that is too far to be worth asking is asked all the same until that is well known, and
/// then once in so long: beside the origin, so that nobody waits for it.
inline constexpr std::chrono::seconds kMeasureAgainAfter{30};
/// Of questions in spite of a summary's no: so many say how often that is wrong, and what the last
/// so many said counts most.
inline constexpr double kDenialsEnough = 64;
inline constexpr double kDenialsRemembered = 512;

/// What one worker has learnt about one peer by asking it. Functions of (state, event, now); one
/// thread.
class PeerRecord {
public:
    using Time = std::chrono::steady_clock::time_point;

    using Counts = PeerCounters;

    bool may_ask(Time now) const { return now >= closed_until_; }
    Time closed_until() const { return closed_until_; }
    /// Failures in a row have opened the breaker, at least once.
    bool broken() const { return failures_in_row_ >= kBreakerFailures; }
    /// Lower is better: round trip to the head, weighed by how often it was in vain and by what is
    /// under way.
    double cost() const;

    void asked();
    /// The question's end, once for each asked().
    void ended(PeerVerdict verdict, Time now);
    /// A head has come `time` after its question went out, be it too late to be of use.
    void answered_after(std::chrono::nanoseconds time, Time now);
    const RoundTrip& round_trip() const { return round_trip_; }
    /// Nothing was measured for a while: what was, may no longer be so.
    bool measured_long_ago(Time now) const { return now - measured_at_ >= kMeasureAgainAfter; }
    /// Somebody finds out now.
    void measure_from(Time now) { measured_at_ = now; }

    /// How often this peer has what its summary denies, on the safe side: 0 until that is well
    /// known.
    double false_miss_rate() const;
    /// The summary said no, and the peer was asked: did it have it?
    void denied(bool had_it);

    /// Why it gave no answer that is of use; a name that lasts.
    void failed_by(std::string_view reason, Time now) { last_failure_ = {reason, now}; }
    struct Failure {
        std::string_view reason;  // empty: there was none
        Time at{};
    };
    const Failure& last_failure() const { return last_failure_; }

    /// This run of the node has its name (PeerView::Peer::run; 0: that is not known). What was
    /// learnt of another one is forgotten, but for what was counted.
    void belongs_to(std::uint64_t run);
    std::uint64_t run() const { return run_; }
    /// A link by which it comes has this token. False: that is the one of last time.
    bool comes_by(const std::string& token) { return std::exchange(link_token_, token) != token; }

    /// Why the peer's summary promised what it had not.
    void false_hit_was(FalseHits::Cause cause);
    /// It was asked though its summary said no; `false_miss`: it would have had the answer.
    void sampled(bool false_miss);
    void won(const TimeWon& time);

    const Counts& counts() const { return counts_; }
    void gave() { ++counts_.served; }
    void add(const Counts& counts) { protocol::add(counts_, counts, kPeerCounters); }

private:
    Counts counts_;
    Time closed_until_{};
    RoundTrip round_trip_;
    Time measured_at_{};
    double vain_rate_ = 0;            // moving average
    double denied_ = 0, had_it_ = 0;  // questions in spite of a no, the older the less
    unsigned answers_ = 0;            // since the last distrust
    unsigned failures_in_row_ = 0;
    unsigned under_way_ = 0;
    Failure last_failure_;
    std::string link_token_;
    std::uint64_t run_ = 0;
};

/// Some peers, across reloads that change their order, and with it their numbers.
using PeerNames = std::vector<std::string>;
/// Those of them that are peers now, as numbers of `view`.
summary::PeerSet peers_named(const PeerNames& names, const protocol::PeerView& view);

/// Which peers to ask, best first: those in `candidates` that may be asked, at most
/// kMaxPeersAsked.
struct PeerChoice {
    std::array<std::size_t, kMaxPeersAsked> peers{};
    std::size_t count = 0;
};
PeerChoice choose_peers(const summary::PeerSet& candidates, std::span<const PeerRecord> records,
                        PeerRecord::Time now);

}  // namespace proxy
