#pragma once

#include <cstddef>
#include <functional>

namespace measure {

struct StudyProgress {
    std::size_t done = 0, rows = 0;
    double part = 0;  // of all rows; running ones count in proportion
};

/// Reports how much of a part is done. Returns false to end the part.
using Step = std::function<bool(double)>;

/// Calls work(i, step) for each i below `parts`, `jobs` (at least 1) at a time, on threads of its
/// own. `progress` is called by this thread some ten times a second, and returns false to end
/// everything. Returns false if it was ended; some parts were then never begun, or ended by their
/// step. The first exception of a part also ends everything and reaches the caller.
bool run_parts(std::size_t parts, unsigned jobs,
               const std::function<void(std::size_t, const Step&)>& work,
               const std::function<bool(const StudyProgress&)>& progress);

/// Returns `jobs`, or the number of processors if it is 0.
unsigned jobs_or_processors(unsigned jobs);

}  // namespace measure
