#pragma once

#include <memory>

#include "measure/simulate/asking.hpp"

namespace measure {

/// As the scheme does it. `sharing` and `network` must outlive it.
std::unique_ptr<Asking> make_asking(const Shared& shared, Sharing& sharing,
                                    SimulatedLines& network);

}  // namespace measure
