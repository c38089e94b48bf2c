#pragma once

#include <functional>
#include <string>

#include "measure/study/run_parts.hpp"
#include "measure/study/study.hpp"

namespace measure {

/// `simulate`, or what a test has in its place. Called from several threads at once.
using Simulator = std::function<SimulationCounts(const Trace&, const SimulationConfig&,
                                                 const std::function<bool(double)>&)>;

/// Runs the rows that have no counts yet, `jobs` (at least 1) at a time; what comes out does not
/// depend on how many. `progress` is called by this thread, some ten times a second; false from it
/// ends the study: rows that are not through stay without counts, and the study is marked. A row
/// that makes no sense is refused with the reason; any other exception goes on to the caller.
void run_study(const Trace& trace, Study& study, unsigned jobs,
               const std::function<bool(const StudyProgress&)>& progress,
               const Simulator& simulator = simulate);

/// INT or TERM asks for the end while this lives, the second one ends the program. One at a time.
class EndBySignal {
public:
    EndBySignal();
    ~EndBySignal();
    EndBySignal(const EndBySignal&) = delete;
    EndBySignal& operator=(const EndBySignal&) = delete;

    static bool asked();
};

}  // namespace measure
