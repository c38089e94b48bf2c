#pragma once

#include <cstddef>
#include <functional>

namespace measure {

struct StudyProgress {
    std::size_t done = 0, rows = 0;
    double part = 0;  // of all rows; those under way count by halves and quarters, too
};

/// Says how much of a part is done; false from it ends the part.
using Step = std::function<bool(double)>;

/// Calls work(i, step) for each i below `parts`, `jobs` (at least 1) at a time, on threads of its
/// own. `progress` is called by this thread, some ten times a second; false from it ends all.
/// False when it was ended: then some parts were not begun, or were told so by their step. The
/// first exception of a part ends all, too, and goes on to the caller.
bool run_parts(std::size_t parts, unsigned jobs,
               const std::function<void(std::size_t, const Step&)>& work,
               const std::function<bool(const StudyProgress&)>& progress);

/// `jobs` when given (not 0), else one for each processor.
unsigned jobs_or_processors(unsigned jobs);

}  // namespace measure
