#include "proxy/net/timer_wheel.hpp"

#include <algorithm>

namespace proxy {

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
    if (timer.wheel_ && timer.due_ <= expires) return;  // an earlier check of the slot moves it on
    timer.unlink();
    if (!running_) {
        now_ = Clock::now();
        running_ = true;
        schedule();
    }
    link(timer);
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

void TimerWheel::schedule() {
    timer_.expires_at(now_ + kTick);
    timer_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec) tick();
    });
}

void TimerWheel::tick() {
    if (stopped_) return;
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
    if (linked_ == 0) {
        running_ = false;
        return;
    }
    schedule();
}

void TimerWheel::stop() {
    stopped_ = true;
    timer_.cancel();
}

}  // namespace proxy
