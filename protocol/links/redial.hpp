#pragma once

#include <chrono>

#include "base/net/backoff.hpp"

namespace protocol {

/// Decides when to dial a place that has no link. Function of (event, now); reads no clock.
class Redial {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// The pause between attempts doubles from `min` to `max`.
    Redial(std::chrono::nanoseconds min, std::chrono::nanoseconds max) : backoff_(min, max) {}

    /// The time to dial; max(): only after another event. `pending`: an invalidation is unconfirmed
    /// there, so even a leaving node dials.
    TimePoint due(bool pending) const { return rests(pending) ? TimePoint::max() : due_; }
    /// True while this node has nothing to send there.
    bool rests(bool pending) const { return !dialled_ || (leaving_ && !pending); }

    /// Sets whether the place is dialled. Returns true if it was not before.
    bool set_dialled(bool dialled) {
        const bool begins = dialled && !dialled_;
        dialled_ = dialled;
        if (!begins) return false;
        backoff_.reset();
        due_ = TimePoint::min();
        return true;
    }
    bool dialled() const { return dialled_; }
    /// This node leaves. It dials only for pending invalidations, and then at once.
    void leave() {
        leaving_ = true;
        due_ = TimePoint::min();
    }
    /// Dials at once, for a message that cannot wait.
    void hurry() { due_ = TimePoint::min(); }
    /// The peer has proved to be alive: dials at once, or again at once if the present attempt
    /// fails.
    void heard() {
        again_at_once_ = true;
        due_ = TimePoint::min();
        backoff_.reset();
    }
    /// The present link takes no more messages and another is needed: dials again at once.
    void again_at_once() { again_at_once_ = true; }
    /// The link is up.
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
    /// Duration of a link; call it before ended(). A link that fails right after each hello must be
    /// dialled less often.
    void link_lasted(std::chrono::nanoseconds time) { backoff_.link_lasted(time); }

private:
    base::Backoff backoff_;
    TimePoint due_ = TimePoint::min();
    bool dialled_ = true, leaving_ = false, again_at_once_ = false;
};

}  // namespace protocol
