#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "proxy/http/outcome.hpp"
#include "proxy/telemetry/peer_request_log.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/peer_of_view.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// How long a peer request waits for the head of its response.
struct PeerPatience {
    std::chrono::nanoseconds budget;  // a later response is late
    std::chrono::nanoseconds latest;  // and is still read until then
};

/// One request to one peer, and the record of its end in this worker's PeerRecord. One coroutine at
/// a time.
class PeerRequest {
public:
    using Duration = std::chrono::nanoseconds;

    PeerRequest(Upstream& upstream, PeerOfView peer, PeerPatience patience);
    /// A request that was not closed counts as lost().
    ~PeerRequest();
    PeerRequest(const PeerRequest&) = delete;
    PeerRequest& operator=(const PeerRequest&) = delete;

    /// Notes begin and end in `log`, too; may be null. Before send().
    void note_in(std::shared_ptr<PeerRequestLog> log) { noted_in_ = std::move(log); }
    /// The request is a part of this trace. Before send().
    void belong_to(const RequestTrace& trace) { trace_ = trace; }
    /// The peer holds its answer back until it has one, so that nothing is measured. Before send().
    void waits_for_fetch() { is_measured_ = false; }
    /// Sends `request` and waits for the head. `promised`: the peer's summary has the key, so
    /// `absent` is a false hit. After `hit` exchange() has a response whose head the caller judges.
    /// Every other verdict ends the request; after a refusal the head stays readable, and discard()
    /// lets the connection carry another request.
    boost::asio::awaitable<PeerVerdict> send(std::string request, bool promised);
    boost::asio::awaitable<void> discard();
    const PeerOfView::Peer& peer() const { return *peer_; }
    std::size_t peer_index() const { return peer_.index; }  // its number in the view
    Exchange& exchange() { return exchange_; }

    /// Books the end. The first call counts.
    void close(PeerVerdict verdict);
    /// Books the gain in time (time_gain.hpp), for a response or a failure.
    void was_of_use(bool of_use, Duration alone, const RoundTrip& origin);
    /// Another response takes its place. An end without lateness is no failure.
    void lost();

private:
    PeerRecord& record();
    void begin_span(std::string& request);

    Upstream& upstream_;
    const PeerOfView peer_;
    const PeerPatience patience_;
    Exchange exchange_;
    std::chrono::steady_clock::time_point begun_;
    std::shared_ptr<PeerRequestLog> noted_in_;
    std::uint64_t note_ = 0;
    RequestTrace trace_;
    OpenSpan span_;  // until close(), which knows the verdict
    FetchError failed_by_ = FetchError::none;
    bool is_measured_ = true;
    bool open_ = false, answered_ = false;
};

}  // namespace proxy
