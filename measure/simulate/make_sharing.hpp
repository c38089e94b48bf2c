#pragma once

#include <memory>

#include "measure/simulate/network.hpp"
#include "measure/simulate/sharing.hpp"

namespace measure {

/// As the configuration says; null for schemes without. `lines` must outlive it.
std::unique_ptr<Sharing> make_sharing(const Shared& shared, SimulatedLines& lines);

}  // namespace measure
