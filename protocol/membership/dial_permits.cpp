#include "protocol/membership/dial_permits.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/tls/crypto.hpp"

namespace protocol {

namespace asio = boost::asio;

struct DialPermits::Permit::Held {
    explicit Held(DialPermits& of) : permits(&of) { ++of.taken_; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { give_back(); }

    void give_back() {
        if (auto* const to = std::exchange(permits, nullptr)) to->give_back();
    }

    DialPermits* permits;  // null once given back
};

bool DialPermits::Permit::held() const {
    return held_ && held_->permits != nullptr;
}

void DialPermits::Permit::give_back() {
    if (held_) held_->give_back();
}

void DialPermits::Permit::give_back_at(asio::steady_timer& timer) {
    timer.async_wait([held = std::weak_ptr(held_)](const boost::system::error_code& error) {
        if (error) return;
        if (const auto still = held.lock()) still->give_back();
    });
}

DialPermits::DialPermits(asio::any_io_executor executor) : executor_(std::move(executor)) {
    base::random_bytes(std::as_writable_bytes(std::span(&random_, 1)));
}

base::awaitable<DialPermits::Permit> DialPermits::take() {
    asio::steady_timer turn(executor_);
    const auto leave = [this](asio::steady_timer* timer) { std::erase(waiting_, timer); };
    const std::unique_ptr<asio::steady_timer, decltype(leave)> at_end(&turn, leave);
    while (taken_ >= limit_) {
        turn.expires_at(base::Clock::time_point::max());
        waiting_.push_back(&turn);
        co_await turn.async_wait(base::as_result);
        std::erase(waiting_, &turn);
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) co_return Permit();
    }
    Permit permit;
    permit.held_ = std::make_shared<Permit::Held>(*this);
    co_return permit;
}

void DialPermits::hello_succeeded() {
    if (++in_time_ < limit_ || limit_ == kMaxDialPermits) return;
    in_time_ = 0;
    ++limit_;
    wake();
}

void DialPermits::hello_was_late() {
    in_time_ = 0;
    limit_ = std::max(limit_ / 2, kMinDialPermits);
}

void DialPermits::give_back() {
    --taken_;
    wake();
}

void DialPermits::wake() {
    for (auto free = limit_ - std::min(taken_, limit_); free > 0 && !waiting_.empty(); --free) {
        random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
        auto& chosen = waiting_[(random_ >> 32) % waiting_.size()];
        std::exchange(chosen, waiting_.back())->cancel();
        waiting_.pop_back();
    }
}

}  // namespace protocol
