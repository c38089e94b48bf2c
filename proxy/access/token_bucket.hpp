#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace proxy {

/// A rate with a burst: `burst` tokens are there at first, and `per_second` come back. Both are
/// above 0.
struct BucketRate {
    double per_second = 1;
    double burst = 1;

    std::chrono::nanoseconds time_for(double tokens) const {
        constexpr double kLongest = 1e18;  // nanoseconds, about 30 years
        return std::chrono::nanoseconds(
            static_cast<std::int64_t>(std::min(tokens / per_second * 1e9, kLongest)));
    }
    std::chrono::nanoseconds depth() const { return time_for(burst); }
};

/// A token bucket as a single point in time: the one at which it is full again. A bucket whose time
/// has passed is full, so it can be forgotten. Plain functions of (state, now).
struct TokenBucket {
    using Time = std::chrono::steady_clock::time_point;
    Time full_at{};

    /// The time from which so many tokens can be taken; `now` or earlier: at once. More than the
    /// burst can be taken from a full bucket only.
    Time ready_at(Time now, const BucketRate& rate, double tokens = 1) const {
        return std::max(full_at, now) + rate.time_for(std::min(tokens, rate.burst)) - rate.depth();
    }
    /// Takes tokens, also such as are not there yet.
    void take(Time now, const BucketRate& rate, double tokens = 1) {
        full_at = std::max(full_at, now) + rate.time_for(tokens);
    }
};

/// A token bucket of several threads.
class SharedBucket {
public:
    using Time = TokenBucket::Time;

    TokenBucket state() const {
        return {Time(std::chrono::nanoseconds(full_at_.load(std::memory_order_relaxed)))};
    }
    Time ready_at(Time now, const BucketRate& rate) const { return state().ready_at(now, rate); }
    /// Takes one token if it is there. Returns the time from which it is there: at most `now` if it
    /// was taken.
    Time take_if_there(Time now, const BucketRate& rate) {
        auto ready = now;
        change([&](TokenBucket& bucket) {
            ready = bucket.ready_at(now, rate);
            if (ready > now) return false;
            bucket.take(now, rate);
            return true;
        });
        return ready;
    }
    void take(Time now, const BucketRate& rate, double tokens) {
        change([&](TokenBucket& bucket) {
            bucket.take(now, rate, tokens);
            return true;
        });
    }

private:
    template <class Change>
    void change(const Change& make) {
        auto was = full_at_.load(std::memory_order_relaxed);
        for (;;) {
            TokenBucket bucket{Time(std::chrono::nanoseconds(was))};
            if (!make(bucket)) return;
            const std::int64_t next =
                std::chrono::nanoseconds(bucket.full_at.time_since_epoch()).count();
            if (full_at_.compare_exchange_weak(was, next, std::memory_order_relaxed)) return;
        }
    }

    std::atomic<std::int64_t> full_at_{0};  // nanoseconds of the steady clock
};

}  // namespace proxy
