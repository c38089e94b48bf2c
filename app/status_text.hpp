#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/run/node_counters.hpp"

namespace app {

// What `hearsay status` prints, on standard output.

void print_status(const measure::NodeCounters& node);

/// Drops those that were asked twice, by another address: the same run of the same process. Returns
/// a sentence for each name that several processes have, with where they were asked. `at`: that of
/// each node, in the same order; loses the same ones.
std::vector<std::string> drop_repeats(std::vector<measure::NodeCounters>& nodes,
                                      std::vector<std::string>& at);

/// What several nodes did together. `missing` more did not answer.
void print_together(const std::vector<measure::NodeCounters>& nodes, std::size_t missing);

/// What the columns of the table "sharing" mean.
std::string sharing_legend();

}  // namespace app
