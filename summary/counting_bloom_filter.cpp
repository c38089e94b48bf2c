#include "summary/counting_bloom_filter.hpp"

#include <algorithm>

namespace summary {

namespace {

constexpr unsigned kCounterBits = 4;
constexpr unsigned kCountersPerWord = 64 / kCounterBits;
static_assert(kCounterMax == (1U << kCounterBits) - 1);

constexpr unsigned shift_of(std::uint64_t position) {
    return static_cast<unsigned>(position % kCountersPerWord) * kCounterBits;
}

}  // namespace

CountingBloomFilter::CountingBloomFilter(Shape shape)
    : shape_(shape),
      bits_(shape.bits),
      counters_((shape.bits + kCountersPerWord - 1) / kCountersPerWord) {}

unsigned CountingBloomFilter::counter(std::uint64_t position) const {
    return static_cast<unsigned>(counters_[position / kCountersPerWord] >> shift_of(position)) &
           kCounterMax;
}

/// All are on their way before the first is looked at: what happens to one counter hangs on its
/// value, which nobody can guess, so the processor would wait for each in turn.
void CountingBloomFilter::prefetch(std::span<const std::uint64_t> positions) const {
    for (const auto position : positions) {
        __builtin_prefetch(&counters_[position / kCountersPerWord], 1);
        bits_.prefetch(position);
    }
}

void CountingBloomFilter::insert(std::span<const std::uint64_t> positions,
                                 std::vector<Flip>& flips) {
    prefetch(positions);
    for (const auto position : positions) {
        const auto count = counter(position);
        if (count == kCounterMax) continue;
        counters_[position / kCountersPerWord] += std::uint64_t{1} << shift_of(position);
        if (count == 0) {
            bits_.set(position);
            ++ones_;
            flips.push_back({position, true});
        }
    }
}

void CountingBloomFilter::erase(std::span<const std::uint64_t> positions,
                                std::vector<Flip>& flips) {
    prefetch(positions);
    for (const auto position : positions) {
        const auto count = counter(position);
        if (count == kCounterMax || count == 0) continue;
        counters_[position / kCountersPerWord] -= std::uint64_t{1} << shift_of(position);
        if (count == 1) {
            bits_.clear(position);
            --ones_;
            flips.push_back({position, false});
        }
    }
}

bool CountingBloomFilter::touch(std::size_t& done, std::size_t words) {
    counters_.touch(done, done + words);
    bits_.touch(done / 4, (done + words) / 4 + 1);  // a word of bits has four of counters
    done += words;
    return done >= counters_.size();
}

bool CountingBloomFilter::release(std::size_t words) {
    return counters_.empty() || counters_.release(words) ? bits_.release(words) : false;
}

bool CountingBloomFilter::contains(std::span<const std::uint64_t> positions) const {
    return std::all_of(positions.begin(), positions.end(),
                       [this](std::uint64_t position) { return bits_.get(position); });
}

}  // namespace summary
