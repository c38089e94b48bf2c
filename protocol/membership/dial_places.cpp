#include "protocol/membership/dial_places.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "protocol/net/crypto.hpp"

namespace protocol {

namespace asio = boost::asio;

struct DialPlaces::Place::Held {
    explicit Held(DialPlaces& of) : places(&of) { ++of.taken_; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { give_back(); }

    void give_back() {
        if (auto* const to = std::exchange(places, nullptr)) to->give_back();
    }

    DialPlaces* places;  // null once given back
};

bool DialPlaces::Place::held() const {
    return held_ && held_->places != nullptr;
}

void DialPlaces::Place::give_back() {
    if (held_) held_->give_back();
}

void DialPlaces::Place::give_back_at(asio::steady_timer& timer) {
    timer.async_wait([held = std::weak_ptr(held_)](const boost::system::error_code& error) {
        if (error) return;
        if (const auto still = held.lock()) still->give_back();
    });
}

DialPlaces::DialPlaces(asio::any_io_executor executor) : executor_(std::move(executor)) {
    random_bytes(std::as_writable_bytes(std::span(&random_, 1)));
}

awaitable<DialPlaces::Place> DialPlaces::take() {
    asio::steady_timer turn(executor_);
    const auto leave = [this](asio::steady_timer* timer) { std::erase(waiting_, timer); };
    const std::unique_ptr<asio::steady_timer, decltype(leave)> at_end(&turn, leave);
    while (taken_ >= limit_) {
        turn.expires_at(Clock::time_point::max());
        waiting_.push_back(&turn);
        co_await turn.async_wait(as_result);
        std::erase(waiting_, &turn);
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) co_return Place();
    }
    Place place;
    place.held_ = std::make_shared<Place::Held>(*this);
    co_return place;
}

void DialPlaces::hello_succeeded() {
    if (++in_time_ < limit_ || limit_ == kMaxDialPlaces) return;
    in_time_ = 0;
    ++limit_;
    wake();
}

void DialPlaces::hello_was_late() {
    in_time_ = 0;
    limit_ = std::max(limit_ / 2, kMinDialPlaces);
}

void DialPlaces::give_back() {
    --taken_;
    wake();
}

void DialPlaces::wake() {
    for (auto free = limit_ - std::min(taken_, limit_); free > 0 && !waiting_.empty(); --free) {
        random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
        auto& chosen = waiting_[(random_ >> 32) % waiting_.size()];
        std::exchange(chosen, waiting_.back())->cancel();
        waiting_.pop_back();
    }
}

}  // namespace protocol
