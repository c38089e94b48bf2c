#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace measure {

/// Counts durations in buckets at most 1/32 wide relative to their value, from 1 us to over an
/// hour. Fixed size (about 7 KiB), free of allocation. One thread.
class Histogram {
public:
    void add(std::chrono::nanoseconds duration) {
        const auto us =
            duration.count() <= 0 ? 0 : static_cast<std::uint64_t>(duration.count()) / 1000;
        ++buckets_[index(us < kMaxUs ? us : kMaxUs)];
        ++count_;
    }
    void add(const Histogram& other) {
        for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
        count_ += other.count_;
    }
    std::uint64_t count() const { return count_; }

    /// Returns the middle of the bucket where `quantile` (0..1) of the values is reached; 0 if
    /// empty.
    std::chrono::microseconds quantile(double quantile) const {
        if (count_ == 0) return std::chrono::microseconds{0};
        auto left = static_cast<std::uint64_t>(quantile * static_cast<double>(count_ - 1)) + 1;
        std::size_t i = 0;
        while (i + 1 < kBuckets && left > buckets_[i]) left -= buckets_[i++];
        return std::chrono::microseconds{middle(i)};
    }

private:
    static constexpr unsigned kSubBits = 5;
    static constexpr std::uint64_t kSub = 1u << kSubBits;
    static constexpr std::uint64_t kMaxUs = (std::uint64_t{1} << 32) - 1;
    static constexpr std::size_t kBuckets = (32 - kSubBits + 1) * kSub;

    static std::size_t index(std::uint64_t us) {
        if (us < kSub) return us;
        const unsigned shift = static_cast<unsigned>(std::bit_width(us)) - 1 - kSubBits;
        return (shift + 1) * kSub + (us >> shift) - kSub;
    }
    static std::int64_t middle(std::size_t index) {
        if (index < kSub) return static_cast<std::int64_t>(index);
        const std::size_t shift = index / kSub - 1;
        const std::uint64_t low = (index % kSub + kSub) << shift;
        return static_cast<std::int64_t>(low + ((std::uint64_t{1} << shift) >> 1));
    }

    std::array<std::uint64_t, kBuckets> buckets_{};
    std::uint64_t count_ = 0;
};

}  // namespace measure
