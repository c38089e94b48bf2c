#pragma once

#include <memory>

#include "measure/simulate/asking.hpp"

namespace measure {

/// As a node does it, by the production code, which learns from what it meets: whom to ask, when
/// the origin beside them, when again, which misses are put to peers that deny them, how wrong the
/// own summary may be. All of it must outlive the answer.
std::unique_ptr<Asking> make_as_nodes(const Shared& shared, Knowledge& knowledge,
                                      SimulatedLines& lines);

}  // namespace measure
