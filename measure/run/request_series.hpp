#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "measure/run/reported_outcome.hpp"

namespace measure {

/// Counts of requests over the course of a run, in at most kMaxParts parts of equal length. When
/// the last part has passed, neighbours become one part of twice the length. Fixed size (about 2
/// KiB), free of allocation. One thread.
class RequestSeries {
public:
    struct Part {
        std::array<std::uint64_t, kReportedOutcomes> answers{};  // index: ReportedOutcome
        std::uint64_t failures = 0;

        std::uint64_t requests() const;
    };
    static constexpr std::size_t kMaxParts = 40;
    static constexpr std::chrono::milliseconds kFirstLength{250};

    /// Counts an answer or a failure that came at this time after the begin of the run.
    void answer(std::chrono::nanoseconds at, ReportedOutcome outcome) {
        ++part_at(at).answers[static_cast<std::size_t>(outcome)];
    }
    void failure(std::chrono::nanoseconds at) { ++part_at(at).failures; }

    /// From the begin to the last counted request.
    std::span<const Part> parts() const { return {parts_.data(), used_}; }
    std::chrono::milliseconds length() const { return length_; }

private:
    Part& part_at(std::chrono::nanoseconds at);

    std::array<Part, kMaxParts> parts_{};
    std::size_t used_ = 0;
    std::chrono::milliseconds length_ = kFirstLength;
};

inline std::uint64_t RequestSeries::Part::requests() const {
    auto sum = failures;
    for (const auto count : answers) sum += count;
    return sum;
}

inline RequestSeries::Part& RequestSeries::part_at(std::chrono::nanoseconds at) {
    at = std::max(at, std::chrono::nanoseconds{0});
    while (at >= length_ * kMaxParts) {
        for (std::size_t i = 0; i < kMaxParts; ++i) {
            const auto from = parts_[i];
            parts_[i] = {};
            auto& to = parts_[i / 2];
            for (std::size_t k = 0; k < kReportedOutcomes; ++k) to.answers[k] += from.answers[k];
            to.failures += from.failures;
        }
        length_ *= 2;
        used_ = (used_ + 1) / 2;
    }
    const auto index = static_cast<std::size_t>(at / length_);
    used_ = std::max(used_, index + 1);
    return parts_[index];
}

}  // namespace measure
