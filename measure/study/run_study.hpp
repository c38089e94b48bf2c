#pragma once

#include <functional>
#include <string>

#include "measure/study/run_parts.hpp"
#include "measure/study/study.hpp"

namespace measure {

/// simulate(), or its replacement in a test. Called from several threads at once.
using Simulator = std::function<SimulationCounts(const Trace&, const SimulationConfig&,
                                                 const std::function<bool(double)>&)>;

/// Runs the rows that lack counts, `jobs` (at least 1) at a time. The results are independent of
/// `jobs`. `progress` is called by this thread some ten times a second, and returns false to end
/// the study: unfinished rows stay empty, and the study is marked as stopped. A row with
/// numbers out of range is refused with the reason. Any other exception reaches the caller.
void run_study(const Trace& trace, Study& study, unsigned jobs,
               const std::function<bool(const StudyProgress&)>& progress,
               const Simulator& simulator = simulate);

/// While this object lives, INT or TERM asks for the end; a second one ends the program. One at a
/// time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    static bool asked();
};

}  // namespace measure
