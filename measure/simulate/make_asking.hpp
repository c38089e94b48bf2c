#pragma once

#include <memory>

#include "measure/simulate/asking.hpp"

namespace measure {

/// Makes the way of asking that belongs to the scheme. `knowledge` and `lines` must outlive it.
std::unique_ptr<Asking> make_asking(const Shared& shared, Knowledge& knowledge,
                                    SimulatedLines& lines);

}  // namespace measure
