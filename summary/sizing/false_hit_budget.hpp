#pragma once

#include <algorithm>
#include <cstdint>

/// The error that a summary of any kind may have. Source: Fan et al. 2000 §V-B.
namespace summary {

inline constexpr double kDefaultFalseHitBudget = 0.004;  // per local miss, over all peers
inline constexpr double kMinError = 1e-6;                // errors asked for are clamped to
inline constexpr double kMaxError = 0.1;                 // this range

constexpr double clamped_error(double error) {
    return std::clamp(error, kMinError, kMaxError);
}

/// The error of one summary that lets requests to `peers` peers keep the budget.
constexpr double error_per_summary(double false_hit_budget, std::uint64_t peers) {
    return clamped_error(false_hit_budget / static_cast<double>(std::max<std::uint64_t>(peers, 1)));
}

}  // namespace summary
