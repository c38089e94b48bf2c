#include "proxy/upstream/peer_record.hpp"

#include <algorithm>
#include <cmath>

namespace proxy {
namespace {

constexpr double kSmoothing = 1.0 / 16;
constexpr std::chrono::milliseconds kNotKnown{1};  // better than what is known to be far

}  // namespace

double PeerRecord::cost(std::uint64_t body_bytes) const {
    const auto round_trip = round_trip_.known() ? round_trip_.mean() : kNotKnown;
    const auto bytes = static_cast<double>(body_bytes);
    const auto bodies = rate_.known()
                            ? bytes * (1.0 + under_way_) / static_cast<double>(rate_.per_second())
                            : bytes * under_way_ / kUnknownRate;
    return (std::chrono::duration<double>(round_trip).count() * (1.0 + under_way_) + bodies) /
           std::max(1.0 - vain_rate_, 0.05);
}

/// The peer shares its rate among the bodies under way, and they begin at different times. So each
/// moment counts once, with the first body to end of those that came in it.
void PeerRecord::gave_body(std::uint64_t bytes, std::chrono::nanoseconds time, Time now) {
    if (!BodyRate::is_sample(bytes, time)) return;
    const auto begin = now - time;
    auto fresh = time;
    if (begin < giving_.end) {
        fresh = now - giving_.end;
        if (begin < giving_.begin) fresh += giving_.begin - begin;
        giving_.begin = std::min(giving_.begin, begin);
    } else {
        giving_.begin = begin;
    }
    giving_.end = now;
    rate_.measured(bytes, fresh);
}

void PeerRecord::asked() {
    ++counts_.asked;
    ++under_way_;
}

void PeerRecord::sent_again() {
    ++counts_.asked;
    ++counts_.failures;
}

void PeerRecord::answered_after(std::chrono::nanoseconds time, Time now) {
    round_trip_.measured(time);
    measured_at_ = now;
}

void PeerRecord::belongs_to(std::uint64_t instance) {
    if (instance == 0 || instance_ == instance) return;
    PeerRecord fresh;
    fresh.counts_ = counts_;
    fresh.under_way_ = under_way_;
    fresh.instance_ = instance;
    *this = std::move(fresh);
}

void PeerRecord::false_hit_was(FalseHits::Cause cause) {
    ++(cause == FalseHits::Cause::collision ? counts_.collisions : counts_.evicted);
}

void PeerRecord::sampled(bool false_miss) {
    ++counts_.sampled;
    if (false_miss) ++counts_.false_misses;
    denied(false_miss);
}

void PeerRecord::denied(bool had_it) {
    if (denied_ >= kDenialsRemembered) {
        denied_ /= 2;
        had_it_ /= 2;
    }
    ++denied_;
    if (had_it) ++had_it_;
}

/// Two deviations below the measured share.
double PeerRecord::false_miss_rate() const {
    if (denied_ < kDenialsEnough) return 0;
    return std::max(had_it_ - 2 * std::sqrt(had_it_), 0.0) / denied_;
}

void PeerRecord::won(const TimeGain& time) {
    using std::chrono::microseconds;
    const auto whole = [](std::chrono::nanoseconds of) {
        return static_cast<std::uint64_t>(std::chrono::floor<microseconds>(of).count());
    };
    counts_.saved_microseconds += whole(time.saved);
    counts_.lost_microseconds += whole(time.lost);
}

void PeerRecord::ended(PeerVerdict verdict, Time now) {
    if (under_way_ > 0) --under_way_;
    switch (verdict) {
        case PeerVerdict::not_asked:
        case PeerVerdict::pending:
            return;
        case PeerVerdict::hit:
            ++counts_.hits;
            break;
        case PeerVerdict::false_hit:
            ++counts_.false_hits;
            break;
        case PeerVerdict::stale_hit:
            ++counts_.stale_hits;
            break;
        case PeerVerdict::refused:
            ++counts_.refused;
            break;
        case PeerVerdict::too_old:
            ++counts_.too_old;
            break;
        case PeerVerdict::unusable:
            ++counts_.failures;
            break;
        case PeerVerdict::outrun:
            ++counts_.failures;
            return;
        case PeerVerdict::timeout:
        case PeerVerdict::failure: {
            ++counts_.failures;
            if (++failures_in_row_ < kBreakerFailures) return;
            const auto doublings = std::min(failures_in_row_ - kBreakerFailures, 8u);
            left_alone_until_ = now + std::min(kBreakerFirst * (1 << doublings), kBreakerMax);
            return;
        }
    }
    failures_in_row_ = 0;
    const auto in_vain = verdict == PeerVerdict::false_hit || verdict == PeerVerdict::unusable;
    vain_rate_ += kSmoothing * ((in_vain ? 1.0 : 0.0) - vain_rate_);
    if (++answers_ >= kDistrustAfter && vain_rate_ > kDistrustRate) {
        left_alone_until_ = now + kDistrustFor;
        answers_ = 0;
        vain_rate_ = 0;
    }
}

summary::PeerSet peers_named(const PeerNames& names, const protocol::PeerView& view) {
    summary::PeerSet result;
    for (const auto& name : names)
        for (std::size_t i = 0; i < view.peers.size(); ++i)
            if (view.peers[i].node == name) result.insert(static_cast<unsigned>(i));
    return result;
}

PeerChoice choose_peers(const summary::PeerSet& candidates, std::span<const PeerRecord> records,
                        PeerRecord::Time now, std::uint64_t body_bytes) {
    PeerChoice choice;
    for (const std::size_t index : candidates) {
        if (index >= records.size() || !records[index].may_ask(now)) continue;
        auto position = choice.count;
        while (position > 0 && records[index].cost(body_bytes) <
                                   records[choice.peers[position - 1]].cost(body_bytes))
            --position;
        if (position >= kMaxPeersAsked) continue;
        choice.count = std::min(choice.count + 1, kMaxPeersAsked);
        for (auto i = choice.count - 1; i > position; --i) choice.peers[i] = choice.peers[i - 1];
        choice.peers[position] = index;
    }
    return choice;
}

}  // namespace proxy
