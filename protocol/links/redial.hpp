#pragma once

#include <chrono>

#include "protocol/net/backoff.hpp"

namespace protocol {

/// When a place is to be dialled, while there is no link to whoever is there. Function of (event,
/// now); reads no clock.
class Redial {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// The pauses between attempts, from `min` doubling to `max`.
    Redial(std::chrono::nanoseconds min, std::chrono::nanoseconds max) : backoff_(min, max) {}

    /// Dial then; max(): not before something happens. `pending`: something that was invalidated is
    /// not confirmed there, for which even a node that leaves dials.
    TimePoint due(bool pending) const { return rests(pending) ? TimePoint::max() : due_; }
    /// Nothing is to be said there now.
    bool rests(bool pending) const { return !dialled_ || (leaving_ && !pending); }

    /// Whether the place is to be dialled at all. True when it was not before.
    bool set_dialled(bool dialled) {
        const bool begins = dialled && !dialled_;
        dialled_ = dialled;
        if (!begins) return false;
        backoff_.reset();
        due_ = TimePoint::min();
        return true;
    }
    bool dialled() const { return dialled_; }
    /// This node leaves: only what is pending is told from now on, and that at once.
    void leave() {
        leaving_ = true;
        due_ = TimePoint::min();
    }
    /// There is something to be told that cannot wait for the next attempt's time.
    void hurry() { due_ = TimePoint::min(); }
    /// Whoever is there has proved to be alive: dial at once, or again at once if what is under way
    /// ends.
    void heard() {
        again_at_once_ = true;
        due_ = TimePoint::min();
        backoff_.reset();
    }
    /// This link takes nothing more, and there is more: the next is to follow at once.
    void again_at_once() { again_at_once_ = true; }
    /// There is a link now: whatever asked for one has it.
    void linked() { again_at_once_ = false; }
    /// An attempt has failed, or a link has ended.
    void ended(bool pending, TimePoint now) {
        if (again_at_once_) {
            again_at_once_ = false;
            due_ = now;
        } else if (!rests(pending)) {
            due_ = now + backoff_.next();
        }
    }
    /// Before ended(): for how long there was a link. One that fails again and again right after
    /// its hello must not be dialled at the highest rate for ever.
    void link_lasted(std::chrono::nanoseconds time) { backoff_.link_lasted(time); }

private:
    Backoff backoff_;
    TimePoint due_ = TimePoint::min();
    bool dialled_ = true, leaving_ = false, again_at_once_ = false;
};

}  // namespace protocol
