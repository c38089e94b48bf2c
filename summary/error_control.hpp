#pragma once

#include <cstdint>

#include "summary/false_hit_budget.hpp"

namespace summary {

/// What a node's own questions to its peers have shown over some time.
struct FalseHitsSeen {
    std::uint64_t misses = 0;      // local misses for which the directory was asked
    std::uint64_t collisions = 0;  // peers asked that never had it; not those that had dropped it
};

/// Does the false-hit budget hold? It follows from sizes that it should, if misses are of different
/// keys. Where the same absent keys are asked for again and again, or were chosen to collide, more
/// false hits are paid for than that; then summaries must be less wrong.
///
/// Each node corrects its own summary by what it sees of those of others. In a cluster where all
/// see about the same, all correct the same, and so nobody has to tell anybody. One that is alone
/// with its trouble announces up to log2(kMaxCorrection) bits more for each object, in vain.
///
/// Slow and bounded: a step is a factor of two, only after kEnough false hits that were, or should
/// have been; down at twice the budget, back at a quarter of it, so that no step is undone by the
/// next. Never above the error that the budget and the peers say.
/// A value: no clock, no thread.
class ErrorControl {
public:
    static constexpr double kEnough = 64;
    static constexpr unsigned kMaxHalvings = 4;
    static constexpr unsigned kMaxCorrection = 1U << kMaxHalvings;

    /// To be asked of the own summary (Own::set_error).
    double error(double budget, std::uint64_t peers) const {
        return clamped_error(error_per_summary(budget, peers) / (1U << halvings_));
    }

    enum class Judgement {
        too_early,  // go on counting
        holds,      // begin to count anew
        corrected,  // the same, and error() has changed; a window counts with one error only
    };
    Judgement judge(double budget, const FalseHitsSeen& seen);

private:
    unsigned halvings_ = 0;
};

}  // namespace summary
