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
#include "proxy/upstream/body_rate.hpp"
#include "proxy/upstream/false_hits.hpp"
#include "proxy/upstream/round_trip.hpp"
#include "proxy/upstream/time_gain.hpp"
#include "summary/directory/peer_set.hpp"

namespace proxy {

inline constexpr std::size_t kMaxPeersAsked = 2;  // per local miss
/// Failures in a row that open a peer's breaker, and the time that it stays open, doubling up to
/// the maximum. After that one request may try. Its success closes the breaker.
inline constexpr unsigned kBreakerFailures = 3;
inline constexpr std::chrono::milliseconds kBreakerFirst{500};
inline constexpr std::chrono::milliseconds kBreakerMax{8000};
/// A peer gets a pause when most of its last responses were in vain: its summary is wrong (false
/// hits), or its responses are unusable.
inline constexpr double kDistrustRate = 0.5;
inline constexpr unsigned kDistrustAfter = 32;  // responses
inline constexpr std::chrono::seconds kDistrustFor{10};
/// A peer too far to be worth a request still gets some until its distance is well known, and then
/// one in this time. They go out beside the origin, so they delay no client.
inline constexpr std::chrono::seconds kMeasureAgainAfter{30};
/// The reason of a failure: another server answers at the http port of the peer.
inline constexpr std::string_view kNotAPeer = "not_a_peer";
inline constexpr double kUnknownRate = 10e6;  // bytes/s, of bodies
/// Requests in spite of a summary's no: this many show how often the no is wrong, and the last ones
/// weigh most.
inline constexpr double kDenialsEnough = 64;
inline constexpr double kDenialsRemembered = 512;

/// One worker's knowledge of one peer, from its requests. Functions of (state, event, now); one
/// thread.
class PeerRecord {
public:
    using Time = std::chrono::steady_clock::time_point;

    using Counts = PeerCounters;

    bool may_ask(Time now) const { return now >= left_alone_until_; }
    Time left_alone_until() const { return left_alone_until_; }
    /// Failures in a row have opened the breaker, at least once.
    bool broken() const { return failures_in_row_ >= kBreakerFailures; }
    /// Lower is better, in seconds: the round trip to the head, weighted by vain requests and by
    /// those under way, and for a body of so many bytes the time that it takes at the peer's rate
    /// behind those under way. A peer of unknown rate is taken for kUnknownRate behind other
    /// bodies, and for faster than all without one, so that the rate becomes known.
    double cost(std::uint64_t body_bytes = 0) const;

    void asked();
    /// A request went out again on a new connection. The first one has failed.
    void sent_again();
    /// The end of a request, once for each asked().
    void ended(PeerVerdict verdict, Time now);
    /// A head has come `time` after its request, perhaps too late for use.
    void answered_after(std::chrono::nanoseconds time, Time now);
    /// A body came whole in this time, perhaps beside others. Before ended().
    void gave_body(std::uint64_t bytes, std::chrono::nanoseconds time, Time now);
    const RoundTrip& round_trip() const { return round_trip_; }
    /// The last measurement is old and may no longer be true.
    bool measured_long_ago(Time now) const { return now - measured_at_ >= kMeasureAgainAfter; }
    /// A request under way measures anew.
    void measure_from(Time now) { measured_at_ = now; }

    /// The share of keys that this peer has and its summary denies, on the safe side: 0 until it is
    /// well known.
    double false_miss_rate() const;
    /// The peer got a request in spite of its summary's no. `had_it`: it had the object.
    void denied(bool had_it);

    /// The reason of the last failure; `reason` must be a lasting name.
    void failed_by(std::string_view reason, Time now) { last_failure_ = {reason, now}; }
    struct Failure {
        std::string_view reason;  // empty: there was none
        Time at{};
    };
    const Failure& last_failure() const { return last_failure_; }
    /// The peer responded as only a peer does, by a refusal with a reason. That refutes kNotAPeer.
    void recognised(Time now) { recognised_at_ = now; }
    Time recognised_at() const { return recognised_at_; }

    /// The node's name belongs to this instance (PeerView::Peer::instance; 0: unknown). Knowledge
    /// of another instance is forgotten; its counts stay.
    void belongs_to(std::uint64_t instance);
    std::uint64_t instance() const { return instance_; }
    /// Notes the token of the peer's link. False: the link is the same as before.
    bool comes_by(const std::string& token) { return std::exchange(link_token_, token) != token; }

    /// Counts the cause of a false hit.
    void false_hit_was(FalseHits::Cause cause);
    /// Counts a sample in spite of a no; `false_miss`: the peer had the object.
    void sampled(bool false_miss);
    void won(const TimeGain& time);

    const Counts& counts() const { return counts_; }
    void gave() { ++counts_.served; }
    void add(const Counts& counts) { base::add(counts_, counts, kPeerCounters); }

private:
    Counts counts_;
    Time left_alone_until_{};
    RoundTrip round_trip_;
    BodyRate rate_;  // of all bodies under way together
    /// The time in which its last bodies came, without a gap.
    struct Giving {
        Time begin{}, end{};
    } giving_;
    Time measured_at_{};
    double vain_rate_ = 0;            // moving average
    double denied_ = 0, had_it_ = 0;  // requests in spite of a no; older ones weigh less
    unsigned answers_ = 0;            // since the last distrust
    unsigned failures_in_row_ = 0;
    unsigned under_way_ = 0;
    Failure last_failure_;
    Time recognised_at_{};
    std::string link_token_;
    std::uint64_t instance_ = 0;
};

/// Names of peers. Numbers change with a reload, names stay.
using PeerNames = std::vector<std::string>;
/// The numbers in `view` of those that are still peers.
summary::PeerSet peers_named(const PeerNames& names, const protocol::PeerView& view);

/// The peers that get a request, best first, at most kMaxPeersAsked.
struct PeerChoice {
    std::array<std::size_t, kMaxPeersAsked> peers{};
    std::size_t count = 0;
};
/// `body_bytes`: of the wanted body, if it is a block; else 0.
PeerChoice choose_peers(const summary::PeerSet& candidates, std::span<const PeerRecord> records,
                        PeerRecord::Time now, std::uint64_t body_bytes = 0);

}  // namespace proxy
