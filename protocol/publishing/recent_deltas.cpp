#include "protocol/publishing/recent_deltas.hpp"

#include <utility>

namespace protocol {

void RecentDeltas::begin(std::uint64_t epoch, std::uint64_t generation) {
    deltas_.clear();
    bytes_ = 0;
    epoch_ = epoch;
    last_ = generation;
}

void RecentDeltas::drop_first() {
    bytes_ -= cost(deltas_.front());
    deltas_.pop_front();
}

void RecentDeltas::add(std::uint64_t epoch, std::uint64_t generation, Payload payload) {
    if (!payload) return begin(epoch, generation);
    if (epoch != epoch_ || generation != last_ + 1) begin(epoch, generation - 1);
    deltas_.push_back(std::move(payload));
    last_ = generation;
    bytes_ += cost(deltas_.back());
    while (bytes_ > max_bytes_) drop_first();
}

std::optional<std::vector<RecentDeltas::Payload>> RecentDeltas::since(
    std::uint64_t epoch, std::uint64_t generation, std::uint64_t present,
    std::size_t most_bytes) const {
    if (epoch != epoch_ || present != last_ || generation > last_) return std::nullopt;
    const auto missing = last_ - generation;
    if (missing > deltas_.size()) return std::nullopt;
    std::vector<Payload> result(deltas_.end() - static_cast<std::ptrdiff_t>(missing),
                                deltas_.end());
    std::size_t bytes = 0;
    for (const auto& payload : result) bytes += payload->size();
    if (bytes > most_bytes) return std::nullopt;
    return result;
}

}  // namespace protocol
