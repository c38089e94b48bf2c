#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/run/node_sample.hpp"

namespace app {

// Prints the output of `hearsay status` for one node.

void print_status(const measure::NodeSample& node);

/// Drops nodes that were asked twice at different addresses: the same run of the same process.
/// Returns a sentence for each name that several processes use, with their addresses. `at` has the
/// address of each node, and loses the same entries.
std::vector<std::string> drop_repeats(std::vector<measure::NodeSample>& nodes,
                                      std::vector<std::string>& at);

/// Prints the sums over several nodes. `missing` more failed to answer.
void print_together(const std::vector<measure::NodeSample>& nodes, std::size_t missing);

/// Explains the columns of the table "sharing".
std::string sharing_legend();

}  // namespace app
