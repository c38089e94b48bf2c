#include "summary/filters/aging_bloom_filter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "summary/sizing/sizing.hpp"

namespace summary {
namespace {

double error_of_each(double error) {
    assert(error > 0 && error < 1);
    return 1 - std::sqrt(1 - error);
}

Shape shape_of(const AgingBloomFilter::Config& config) {
    const auto keys = static_cast<double>(std::max<std::uint64_t>(config.keys, 1));
    const auto wanted = std::ceil(optimal_bits(keys, error_of_each(config.error)) / 64) * 64;
    const auto bits = std::min(wanted, static_cast<double>(kMaxBits));
    const auto hashes = std::min(best_hashes(wanted / keys), kMaxHashes);
    return {static_cast<std::uint64_t>(bits), hashes};
}

std::uint64_t capacity_of(const AgingBloomFilter::Config& config) {
    const auto shape = shape_of(config);
    const auto keys = std::max<std::uint64_t>(config.keys, 1);
    if (shape.bits < kMaxBits) return keys;
    const auto each = bits_per_object(error_of_each(config.error), shape.hashes);
    return std::min(keys, static_cast<std::uint64_t>(static_cast<double>(shape.bits) / each));
}

}  // namespace

AgingBloomFilter::Buffer::Buffer(std::uint64_t bits)
    : bits_((bits + 63) / 64), stale_((bits_.size() + kChunkWords * 64 - 1) / (kChunkWords * 64)) {}

bool AgingBloomFilter::Buffer::has(std::span<const std::uint64_t> positions) const {
    return std::all_of(positions.begin(), positions.end(), [this](std::uint64_t position) {
        const auto word = position / 64, chunk = word / kChunkWords;
        return (bits_[word] >> (position % 64) & 1) != 0 &&
               (stale_[chunk / 64] >> (chunk % 64) & 1) == 0;
    });
}

void AgingBloomFilter::Buffer::set(std::uint64_t position) {
    const auto word = position / 64, chunk = word / kChunkWords;
    const auto mark = std::uint64_t{1} << (chunk % 64);
    if ((stale_[chunk / 64] & mark) != 0) {
        stale_[chunk / 64] &= ~mark;
        const auto begin = chunk * kChunkWords;
        const auto end = std::min(begin + kChunkWords, bits_.size());
        std::fill(bits_.data() + begin, bits_.data() + end, 0);
    }
    bits_[word] |= std::uint64_t{1} << (position % 64);
}

void AgingBloomFilter::Buffer::clear() {
    std::fill(stale_.data(), stale_.data() + stale_.size(), ~std::uint64_t{0});
}

AgingBloomFilter::AgingBloomFilter(Config config)
    : AgingBloomFilter(shape_of(config), capacity_of(config)) {}

AgingBloomFilter::AgingBloomFilter(Shape shape, std::uint64_t capacity)
    : shape_(shape), capacity_(capacity), first_(shape.bits), second_(shape.bits) {
    assert(is_valid(shape) && capacity > 0);
}

bool AgingBloomFilter::check_and_insert(std::span<const std::uint64_t> positions) {
    if (first_.has(positions)) return true;
    const bool seen = second_.has(positions);
    if (newest_ == capacity_) {
        second_.clear();
        std::swap(first_, second_);
        newest_ = 0;
        ++turns_;
    }
    for (const auto position : positions) first_.set(position);
    ++newest_;
    return seen;
}

bool AgingBloomFilter::contains(KeyHash key) const {
    const auto bits = positions(key, shape_);
    return first_.has(bits) || second_.has(bits);
}

std::uint64_t AgingBloomFilter::memory_bytes() const {
    return first_.memory_bytes() + second_.memory_bytes();
}

}  // namespace summary
