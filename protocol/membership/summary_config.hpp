#pragma once

#include <chrono>

#include "summary/sizing/false_hit_budget.hpp"
#include "summary/sizing/kind.hpp"

namespace protocol {

/// The times of announcements.
struct AnnounceConfig {
    double changed = 0.001;  // an announcement goes out when this part of the objects has changed
    std::chrono::nanoseconds delay = std::chrono::seconds(1);  // or so long after the first change

    bool operator==(const AnnounceConfig&) const = default;
};

/// The own summary.
struct SummaryConfig {
    summary::Kind kind = summary::kDefaultKind;
    double false_hit_budget =
        summary::kDefaultFalseHitBudget;  // expected ones per local miss, over all peers
    AnnounceConfig announce;

    bool operator==(const SummaryConfig&) const = default;
};

}  // namespace protocol
