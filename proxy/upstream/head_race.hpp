#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/timer_wheel.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/upstream/origin_request.hpp"
#include "proxy/upstream/peer_request.hpp"

namespace proxy {

// Questions of one fetch that are under way at the same time, each in a coroutine of its own, and
// whoever waits for the first good head. A loser goes on for a while by itself, as its connection
// is worth keeping and what it takes is worth knowing; nobody waits for it.

struct PeerRunner {
    using Duration = std::chrono::nanoseconds;

    /// As PeerRequest has them.
    PeerRunner(Upstream& upstream, PeerOfView peer, PeerPatience patience, bool has_promised)
        : request(upstream, std::move(peer), patience), promised(has_promised) {}

    PeerRequest request;
    const bool promised;                 // its summary has the very key
    Duration alone{0};                   // for so long nobody else is asked
    std::optional<PeerVerdict> verdict;  // once it has ended; `hit`: the owner's to judge and read
    bool taken = false;                  // the owner has looked at that
    bool lost = false;                   // there is no owner any more
};

struct OriginRunner final : TimerWheel::Timer {
    /// Precondition: `asks` has an origin.
    OriginRunner(Upstream& in, std::shared_ptr<const RequestSnapshot> asks, bool has_stand_in)
        : upstream(in),
          snapshot(std::move(asks)),
          request(upstream, *snapshot->origin(), has_stand_in),
          exchange(upstream.pool, upstream.head_limits()) {}

    /// Sends the request with `lines` and waits for the head.
    boost::asio::awaitable<FetchError> run();
    // What becomes of one that went by itself, once: the worker's counters tell it.
    /// Its result is the owner's to use.
    void take();
    /// There is no owner any more. Nothing if it was taken.
    void lose();

    Upstream& upstream;
    const std::shared_ptr<const RequestSnapshot> snapshot;
    std::string lines;
    std::function<void()> on_end;  // of who waits for other things as well, unless it has lost
    OriginRequest request;
    Exchange exchange;
    bool under_way = false;            // by itself
    std::optional<FetchError> result;  // once it has ended
    bool lost = false;

private:
    bool taken_ = false;

    void expire() override { exchange.abandon(); }
};

/// Belongs to the coroutine that waits. Its end is the loss of every peer that has not won.
class HeadRace {
public:
    /// `wakeup`: is notified of each end.
    HeadRace(Upstream& upstream, std::shared_ptr<Wakeup> wakeup)
        : upstream_(upstream), wakeup_(std::move(wakeup)) {}
    ~HeadRace() { won_by(nullptr); }
    HeadRace(const HeadRace&) = delete;
    HeadRace& operator=(const HeadRace&) = delete;

    /// False when the worker is stopping.
    bool start(std::shared_ptr<PeerRunner> runner, std::string request);
    /// Likewise. It goes beside a peer, and is counted.
    bool start(const std::shared_ptr<OriginRunner>& runner);

    /// Null, or one that has ended and was not taken yet; it is now.
    PeerRunner* take_ended();
    unsigned peers_open() const;
    /// All other peers have lost.
    void won_by(const PeerRunner* winner);

private:
    Upstream& upstream_;
    std::shared_ptr<Wakeup> wakeup_;
    std::vector<std::shared_ptr<PeerRunner>> peers_;
};

}  // namespace proxy
