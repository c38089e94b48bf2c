#pragma once

#include <memory>

#include "measure/simulate/peer_search.hpp"

namespace measure {

/// Makes the search that belongs to the scheme. `knowledge` and `lines` must outlive it.
std::unique_ptr<PeerSearch> make_peer_search(const KnowledgeInputs& shared, Knowledge& knowledge,
                                             SimulatedLines& lines);

}  // namespace measure
