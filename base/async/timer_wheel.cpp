#include "base/async/timer_wheel.hpp"

#include <algorithm>
#include <cstdint>

namespace base {

void TimerWheel::Timer::unlink() {
    if (!wheel_) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    --wheel_->linked_;
    wheel_ = nullptr;
}

TimerWheel::TimerWheel(boost::asio::any_io_executor executor)
    : timer_(executor), now_(Clock::now()) {
    for (auto& anchor : slots_) anchor.previous_ = anchor.next_ = &anchor;
}

void TimerWheel::arm(Timer& timer, Clock::time_point expires) {
    timer.expires_ = expires;
    used();
    if (timer.wheel_ && timer.due_ <= expires) return;  // an earlier check of the slot moves it on
    timer.unlink();
    link(timer);
}

/// Begins to tick. The time goes on over the slots that a rest has passed; they are empty.
void TimerWheel::wake() {
    ticks_ = true;
    const auto real = Clock::now();
    if (linked_ == 0) {
        now_ = real;
    } else {
        const auto passed =
            static_cast<std::size_t>(std::max<std::int64_t>((real - now_) / kTick, 0));
        const auto skipped = std::min(passed, ticks_to_next() - 1);
        now_ += skipped * kTick;
        current_ = (current_ + skipped) % kSlots;
    }
    schedule(1);
}

void TimerWheel::link(Timer& timer) {
    const auto wait = std::max(timer.expires_ - now_, Clock::duration::zero());
    const auto ticks =
        std::clamp<std::size_t>(static_cast<std::size_t>(wait / kTick) + 1, 1, kSlots - 1);
    auto& anchor = slots_[(current_ + ticks) % kSlots];
    timer.due_ = now_ + ticks * kTick;
    timer.wheel_ = this;
    timer.previous_ = anchor.previous_;
    timer.next_ = &anchor;
    anchor.previous_->next_ = &timer;
    anchor.previous_ = &timer;
    ++linked_;
}

/// Ticks until the next slot with a timer. Precondition: there is one.
std::size_t TimerWheel::ticks_to_next() const {
    std::size_t ticks = 1;
    const auto is_empty = [this](std::size_t slot) { return slots_[slot].next_ == &slots_[slot]; };
    while (ticks < kSlots && is_empty((current_ + ticks) % kSlots)) ++ticks;
    return ticks;
}

void TimerWheel::schedule(std::size_t ticks) {
    if (stopped_) return;
    timer_.expires_at(now_ + ticks * kTick);  // cancels an earlier wait
    timer_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec) tick();
    });
}

void TimerWheel::tick() {
    if (stopped_) return;
    ticks_ = true;
    // A timer that is armed by an expiry is no use: one that looks after idle things now and then
    // would otherwise keep the wheel ticking.
    const auto unused = unused_ticks_;
    const auto real = Clock::now();
    while (now_ + kTick <= real) {
        now_ += kTick;
        current_ = (current_ + 1) % kSlots;
        auto& anchor = slots_[current_];
        // The slot is emptied first, because expire() and new links may touch any slot.
        Anchor due;
        if (anchor.next_ != &anchor) {
            due.next_ = anchor.next_;
            due.previous_ = anchor.previous_;
            due.next_->previous_ = due.previous_->next_ = &due;
            anchor.next_ = anchor.previous_ = &anchor;
        } else {
            due.next_ = due.previous_ = &due;
        }
        while (due.next_ != &due) {
            auto& timer = *due.next_;
            timer.unlink();
            if (timer.expires_ == Clock::time_point::max()) continue;
            if (timer.expires_ <= now_) {
                timer.expires_ = Clock::time_point::max();
                timer.expire();
            } else {
                link(timer);
            }
        }
    }
    unused_ticks_ = unused + 1;
    ticks_ = linked_ > 0 && unused_ticks_ < kIdleAfter;
    if (linked_ > 0) schedule(ticks_ ? 1 : ticks_to_next());
}

void TimerWheel::stop() {
    stopped_ = true;
    timer_.cancel();
}

}  // namespace base
