#pragma once

#include <memory>

#include "measure/simulate/peer_search.hpp"

namespace measure {

/// Asks peers as a node does, with the production code. That code learns from the answers: which
/// peer to ask, when to ask the origin beside it, when to ask again, which misses to send to peers
/// whose summaries deny them, and how exact the own summary must be. All arguments must outlive the
/// result.
std::unique_ptr<PeerSearch> make_as_nodes(const KnowledgeInputs& shared, Knowledge& knowledge,
                                          SimulatedLines& lines);

}  // namespace measure
