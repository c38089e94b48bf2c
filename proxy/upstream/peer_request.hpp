#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "proxy/http/outcome.hpp"
#include "proxy/telemetry/peers_asked.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/peer_of_view.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// How long a peer request waits for the head of its response.
struct PeerPatience {
    std::chrono::nanoseconds budget;  // a later response is late
    std::chrono::nanoseconds latest;  // and is still read until then
};

/// One question to one peer, and what came of it in this worker's record of that peer. One
/// coroutine at a time.
class PeerRequest {
public:
    using Duration = std::chrono::nanoseconds;

    PeerRequest(Upstream& upstream, PeerOfView peer, PeerPatience patience);
    /// A question that was not closed counts as lost().
    ~PeerRequest();
    PeerRequest(const PeerRequest&) = delete;
    PeerRequest& operator=(const PeerRequest&) = delete;

    /// Where its begin and its end are told as well; may be null. Before ask().
    void note_in(std::shared_ptr<PeersAsked> log) { noted_in_ = std::move(log); }
    /// Sends `request` and waits for the head. `promised`: its summary has the key, so that it is a
    /// false hit if it is `absent`. `hit`: exchange() holds an answer whose head the caller judges.
    /// All else is an end; of a refusal the head can still be looked at, and discard() lets its
    /// connection be used again.
    boost::asio::awaitable<PeerVerdict> send(std::string request, bool promised = true);
    boost::asio::awaitable<void> discard();
    const PeerOfView::Peer& peer() const { return *peer_; }
    Exchange& exchange() { return exchange_; }

    /// Books the end. The first call counts.
    void close(PeerVerdict verdict);
    /// What it was worth: time_won.hpp. For an answer that has come, or a failure.
    void was_of_use(bool of_use, Duration alone, const RoundTrip& origin);
    /// Another answer is taken in its place: the end of one that is not late is no failure.
    void lost();

private:
    PeerRecord& record();

    Upstream& upstream_;
    const PeerOfView peer_;
    const PeerPatience patience_;
    Exchange exchange_;
    std::chrono::steady_clock::time_point begun_;
    std::shared_ptr<PeersAsked> noted_in_;
    std::uint64_t note_ = 0;
    FetchError failed_by_ = FetchError::none;
    bool open_ = false, answered_ = false;
};

}  // namespace proxy
