#include "summary/sizing/error_control.hpp"

#include <algorithm>

namespace summary {

ErrorControl::Judgement ErrorControl::judge(double budget, const FalseHitsSeen& seen) {
    const auto allowed = budget * static_cast<double>(seen.misses);
    const auto paid = static_cast<double>(seen.collisions);
    if (std::max(allowed, paid) < kEnough) return Judgement::too_early;
    // A step back doubles the cost, so a quarter becomes half.
    if (paid > 2 * allowed && halvings_ < kMaxHalvings) {
        ++halvings_;
    } else if (paid < allowed / 4 && halvings_ > 0) {
        --halvings_;
    } else {
        return Judgement::kept;
    }
    return Judgement::corrected;
}

}  // namespace summary
