#pragma once

#include <memory>

#include "measure/simulate/knowledge.hpp"
#include "measure/simulate/network.hpp"

namespace measure {

/// Makes the knowledge that belongs to the scheme; null for schemes without any. `lines` must
/// outlive it.
std::unique_ptr<Knowledge> make_knowledge(const KnowledgeInputs& shared, SimulatedLines& lines);

}  // namespace measure
