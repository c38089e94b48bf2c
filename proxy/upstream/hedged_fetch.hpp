#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/timer_wheel.hpp"
#include "base/async/wakeup.hpp"
#include "proxy/upstream/origin_attempt.hpp"
#include "proxy/upstream/peer_request.hpp"

namespace proxy {

// The simultaneous requests of one fetch, each in a coroutine of its own. The fetch waits for the
// first good head. A loser goes on by itself for a while, because its connection is worth keeping
// and its time worth measuring. All of this belongs to one worker thread.

/// One peer request of a race. The race and the request's coroutine share it, and the last of them
/// destroys it.
struct PeerAttempt {
    using Duration = std::chrono::nanoseconds;

    /// As PeerRequest has them.
    PeerAttempt(Upstream& upstream, PeerOfView peer, PeerPatience patience, bool has_promised)
        : request(upstream, std::move(peer), patience), promised(has_promised) {}

    PeerRequest request;
    const bool promised;  // its summary has the very key
    Duration alone{0};    // time in which no other request is under way
    std::optional<PeerVerdict>
        verdict;         // once it has ended; `hit`: the owner judges and reads the response
    bool taken = false;  // the owner has looked at the verdict
    bool lost = false;   // the request has no owner any more
};

/// The race of one fetch. Belongs to the coroutine that waits. Its end makes losers of all peers
/// but the winner.
class HedgedFetch {
public:
    /// `wakeup` gets a notice of each end.
    HedgedFetch(Upstream& upstream, std::shared_ptr<base::Wakeup> wakeup)
        : upstream_(upstream), wakeup_(std::move(wakeup)) {}
    ~HedgedFetch() { won_by(nullptr); }
    HedgedFetch(const HedgedFetch&) = delete;
    HedgedFetch& operator=(const HedgedFetch&) = delete;

    /// Sends `request` to the peer of `attempt`. False when the worker is stopping.
    bool start(std::shared_ptr<PeerAttempt> attempt, std::string request);
    /// The same for the origin, beside a peer; the start is counted.
    bool start(const std::shared_ptr<OriginAttempt>& attempt);

    /// Takes one peer request that has ended; null: there is none.
    PeerAttempt* take_ended();
    unsigned peers_open() const;
    /// Makes losers of all other peers.
    void won_by(const PeerAttempt* winner);

private:
    Upstream& upstream_;
    std::shared_ptr<base::Wakeup> wakeup_;
    std::vector<std::shared_ptr<PeerAttempt>> peers_;
};

}  // namespace proxy
