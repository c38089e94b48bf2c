#pragma once

#include <cstdint>

#include "summary/sizing/false_hit_budget.hpp"

namespace summary {

/// Results of a node's peer requests over some time.
struct FalseHitsSeen {
    std::uint64_t misses = 0;      // local misses for which the directory was asked
    std::uint64_t collisions = 0;  // peers asked that never had the object (dropped ones excluded)
};

/// Checks whether the false-hit budget is kept, and corrects the error of the own summary. The
/// sizes keep the budget if misses are of different keys. Repeated requests for the same absent
/// keys, or keys chosen to collide, cause more false hits; then summaries need a smaller error.
///
/// Each node corrects its own summary from its experience with those of its peers. All nodes of a
/// cluster usually see about the same, so all make the same correction on their own. A node alone
/// with its trouble announces up to kMaxHalvings bits more for each object, in vain.
///
/// The control is slow and bounded. A step is a factor of two, and needs kEnough false hits,
/// observed or expected. The error is halved at twice the budget and doubled at a quarter of it, so
/// a step is never undone by the next. The error stays at or below the one that follows from the
/// budget and the number of peers. A value that knows neither clock nor threads.
class ErrorControl {
public:
    static constexpr double kEnough = 64;
    static constexpr unsigned kMaxHalvings = 4;

    /// The error for the own summary (OwnSummary::set_error).
    double error(double budget, std::uint64_t peers) const {
        return clamped_error(error_per_summary(budget, peers) / (1U << halvings_));
    }

    enum class Judgement {
        too_early,  // goes on counting
        kept,       // starts a new count
        corrected,  // starts a new count, as error() has changed: a window counts with one error
                    // only
    };
    Judgement judge(double budget, const FalseHitsSeen& seen);

private:
    unsigned halvings_ = 0;
};

}  // namespace summary
