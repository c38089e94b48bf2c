#pragma once

#include <cstdint>

namespace proxy {

/// How often misses for one origin met: another node of the cluster was fetching the same content.
/// One worker's own experience; one thread.
class FetchMeetings {
public:
    /// One miss in so many asks although it would not pay, so that the share stays known.
    static constexpr std::uint32_t kSampleOneIn = 32;

    /// The share of the last some 16 misses that asked.
    double share() const { return share_; }
    void asked(bool met) { share_ += ((met ? 1.0 : 0.0) - share_) / 16; }
    /// Counts a miss that would not pay. True if it is a sample.
    bool is_sample() { return ++passed_ % kSampleOneIn == 0; }

private:
    double share_ = 0;
    std::uint32_t passed_ = 0;
};

}  // namespace proxy
