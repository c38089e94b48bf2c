#include "summary/filters/counting_bloom_filter.hpp"

namespace summary {

namespace {

constexpr unsigned kCounterBits = 2;
constexpr unsigned kInPlace = (1U << kCounterBits) - 1;  // the largest count in place
constexpr unsigned kCountersPerWord = 64 / kCounterBits;

constexpr unsigned shift_of(std::uint64_t position) {
    return static_cast<unsigned>(position % kCountersPerWord) * kCounterBits;
}

}  // namespace

CountingBloomFilter::CountingBloomFilter(Shape shape)
    : shape_(shape),
      bits_(shape.bits),
      counters_((shape.bits + kCountersPerWord - 1) / kCountersPerWord) {}

unsigned CountingBloomFilter::in_place(std::uint64_t position) const {
    return static_cast<unsigned>(counters_[position / kCountersPerWord] >> shift_of(position)) &
           kInPlace;
}

unsigned CountingBloomFilter::counter(std::uint64_t position) const {
    const auto count = in_place(position);
    if (count < kInPlace) return count;
    const auto more = beyond_.find(position);
    return more == beyond_.end() ? count : more->second;
}

std::uint64_t CountingBloomFilter::memory_bytes() const {
    return counters_.size() * sizeof(std::uint64_t) + shape_.bits / 8 +
           beyond_.bucket_count() * (sizeof(decltype(beyond_)::value_type) + 1);
}

/// All memory is requested before the first counter is read. The next step of a counter depends on
/// its value, which the processor cannot predict, so it would wait for each counter in turn.
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
        const auto count = in_place(position);
        if (count == kInPlace) {
            auto& more = beyond_.try_emplace(position, std::uint8_t{kInPlace}).first->second;
            if (more < kCounterMax) ++more;
            continue;
        }
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
        const auto count = in_place(position);
        if (count == 0) continue;
        if (count == kInPlace) {
            if (const auto more = beyond_.find(position); more != beyond_.end()) {
                if (more->second < kCounterMax && --more->second == kInPlace) beyond_.erase(more);
                continue;
            }
        }
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
    // A word of bits corresponds to as many words of counters as a counter has bits.
    bits_.touch(done / kCounterBits, (done + words) / kCounterBits + 1);
    done += words;
    return done >= counters_.size();
}

bool CountingBloomFilter::release(std::size_t words) {
    return counters_.empty() || counters_.release(words) ? bits_.release(words) : false;
}

}  // namespace summary
