#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/storing.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/peer_choice.hpp"

namespace proxy {

// Which peers may have a copy of what a job wants, and which copies will do.

struct PeerTurn {
    std::size_t peer = 0;   // index in the view
    bool promised = false;  // its summary has the very key
};
/// Whom to ask, best first.
struct PeerTurns {
    std::array<PeerTurn, kMaxPeersAsked> turns{};
    std::size_t count = 0;
    bool beside_the_origin = false;  // it is far, and only to be known how far
};
/// `view`: the worker's present one, with a directory. `origin`: how long that takes. Counts peers
/// that are too far.
PeerTurns whom_to_ask(Cache& cache, const FetchJob& job, const protocol::PeerView& view,
                      const RoundTrip& origin);

/// How old a copy may say it is. The peer obeys if it is so configured, and saves a body.
std::optional<std::chrono::seconds> wanted_max_age(const Cache& cache, const FetchJob& job);

/// May be reused without validation, and was not made before the last invalidation of what is
/// wanted, or of one of its tags.
bool is_current_copy(const Cache& cache, const FetchJob& job, const Draft& made);
/// The same for an answer, which may be a block.
bool is_acceptable_copy(const Cache& cache, const FetchJob& job, const Exchange& exchange,
                        const Draft& made);

}  // namespace proxy
