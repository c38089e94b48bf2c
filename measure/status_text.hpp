#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/run/node_counters.hpp"

namespace measure {

// What `hearsay status` prints, on standard output.

void print_status(const NodeCounters& node);

/// What several nodes did together; one that was asked twice counts once. `missing` more did not
/// answer.
void print_together(std::vector<NodeCounters> nodes, std::size_t missing);

/// What the columns of the table "sharing" mean.
std::string sharing_legend();

}  // namespace measure
