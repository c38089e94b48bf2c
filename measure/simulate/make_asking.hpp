#pragma once

#include <memory>

#include "measure/simulate/asking.hpp"

namespace measure {

/// As the scheme does it. `knowledge` and `lines` must outlive it.
std::unique_ptr<Asking> make_asking(const Shared& shared, Knowledge& knowledge,
                                    SimulatedLines& lines);

}  // namespace measure
