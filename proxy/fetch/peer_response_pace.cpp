#include "proxy/fetch/peer_response_pace.hpp"

#include <algorithm>
#include <utility>

namespace proxy {
namespace {

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

OriginPace pace_of_origin(const RoundTrip& answers, const BodyRate& bodies, WantedBody wanted) {
    OriginPace pace;
    pace.head = answers.known() ? answers.mean() : kUnknownResponse;
    const auto head = std::max(seconds(pace.head), 1e-6);
    const auto first_window = static_cast<std::uint64_t>(kFirstWindowBytes / head);
    if (bodies.known())
        pace.bytes_per_second = bodies.per_second();
    else if (wanted == WantedBody::block)
        pace.bytes_per_second = kExpectedRateMax;
    else
        pace.bytes_per_second = std::clamp<std::uint64_t>(first_window, 1, kExpectedRateMax);
    return pace;
}

PeerResponsePace::PeerResponsePace(Duration window, std::function<OriginPace()> origin,
                                   StreamOfBodies stream)
    : window_(window),
      origin_(std::move(origin)),
      stream_(std::move(stream)),
      at_begin_(from_peers()) {}

PeerResponsePace::Advice PeerResponsePace::waited(Duration time, std::uint64_t bytes,
                                                  const std::optional<std::uint64_t>& missing) {
    time_ += time;
    bytes_ += bytes;
    came_ += bytes;
    if (stream_.from_peers) *stream_.from_peers += bytes;
    if (time_ < window_) return Advice::goes_on;
    const auto least = static_cast<double>(kPeerRateMin) * seconds(window_);
    const auto stalled = static_cast<double>(bytes_) < std::max(least, 1.0);
    const auto elsewhere = !looked_elsewhere_ && is_much_sooner_elsewhere(missing.value_or(came_));
    time_ = {};
    bytes_ = 0;
    at_begin_ = from_peers();
    if (stalled) return Advice::stalled;
    if (!elsewhere) return Advice::goes_on;
    looked_elsewhere_ = true;
    return Advice::look_elsewhere;
}

bool PeerResponsePace::is_much_sooner_elsewhere(std::uint64_t missing) const {
    const auto rest = static_cast<double>(missing + stream_.bytes_behind);
    const auto bytes = std::max<std::uint64_t>(from_peers() - at_begin_, 1);
    const auto here = rest * seconds(time_) / static_cast<double>(bytes);
    const auto origin = origin_();
    const auto there = seconds(origin.head) + rest / static_cast<double>(origin.bytes_per_second);
    return here >= kMuchSooner * there && here - there >= seconds(window_);
}

bool may_take_over(std::uint64_t first, std::uint64_t received) {
    return received >= first && received - first <= kComesTwiceMax;
}

}  // namespace proxy
