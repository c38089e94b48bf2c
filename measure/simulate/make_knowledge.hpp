#pragma once

#include <memory>

#include "measure/simulate/knowledge.hpp"
#include "measure/simulate/network.hpp"

namespace measure {

/// As the configuration says; null for schemes without. `lines` must outlive it.
std::unique_ptr<Knowledge> make_knowledge(const Shared& shared, SimulatedLines& lines);

}  // namespace measure
