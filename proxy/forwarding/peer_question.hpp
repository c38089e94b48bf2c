#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "protocol/peer_view.hpp"
#include "proxy/forwarding/exchange.hpp"
#include "proxy/forwarding/worker.hpp"
#include "proxy/http/outcome.hpp"

namespace proxy {

/// One question to one peer, and what came of it in this worker's record of that peer. Owned by one
/// coroutine.
class PeerQuestion {
public:
    using Peer = protocol::PeerView::Peer;

    /// `peer` is of a view of the worker's, and must outlive this.
    PeerQuestion(Worker& worker, const Config& config, const Peer& peer);
    /// A question that was not closed counts as a failure.
    ~PeerQuestion();
    PeerQuestion(const PeerQuestion&) = delete;
    PeerQuestion& operator=(const PeerQuestion&) = delete;

    /// Sends `request` and waits for the head, for the peer budget in all. `promised`: its summary
    /// has the key, so that it is a false hit if it is `absent`. `hit`: exchange() holds
    /// an answer whose head the caller judges. All else is an end; of a refusal the head can still
    /// be looked at.
    boost::asio::awaitable<PeerVerdict> ask(std::string request, bool promised = true);
    const Peer& peer() const { return peer_; }
    Exchange& exchange() { return exchange_; }

    /// Books the end. The first call counts.
    void close(PeerVerdict verdict);

private:
    PeerRecord* record();
    UpstreamTarget target() const;

    Worker& worker_;
    const std::chrono::nanoseconds budget_;
    const Peer& peer_;
    Exchange exchange_;
    std::chrono::steady_clock::time_point begun_;
    std::chrono::nanoseconds round_trip_{0};
    FetchError failed_by_ = FetchError::none;
    bool open_ = false;
};

}  // namespace proxy
