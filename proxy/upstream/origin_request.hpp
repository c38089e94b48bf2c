#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// The leave to put one request to an origin, and what came of it in the worker's OriginHealth and
/// counters. Owned by one coroutine; the worker must outlive it.
class OriginRequest {
public:
    /// `has_stand_in`: something stored may be given in place of the
    /// answer while the origin is unreachable.
    OriginRequest(Upstream& upstream, UpstreamTarget target, bool has_stand_in = false);
    /// A question without an end says nothing of the origin.
    ~OriginRequest();
    OriginRequest(const OriginRequest&) = delete;
    OriginRequest& operator=(const OriginRequest&) = delete;

    /// False: the origin is left alone and must not be asked now (FetchError::origin_down).
    bool allowed() const { return leave_ != OriginHealth::Leave::no; }
    /// This one finds out whether the origin is back, which may take its time.
    bool is_probe() const { return leave_ == OriginHealth::Leave::probe; }
    /// The head has come, or it has not: books that, and logs a failure. The first call counts.
    /// What this node ended itself (`abandoned`, `stopping`) is no failure of the origin's, and
    /// what a rule of it forbids was no request.
    void ended(FetchError error, ParseError malformed = ParseError::ok);
    /// The head came so long after the request.
    void answered_after(std::chrono::nanoseconds time) {
        upstream_.origin_times.measured(place_, time);
    }
    const UpstreamTarget& target() const { return target_; }
    /// What the body of the answer adds to.
    std::uint64_t& received_bytes() const { return upstream_.counters.bytes_from_origins; }

private:
    void book(OriginHealth::End end);
    void count();

    Upstream& upstream_;
    const UpstreamTarget target_;
    const std::string place_;
    const OriginHealth::Time began_;
    const OriginHealth::Leave leave_;
    bool open_;
    bool counted_ = false;  // as a request; where a rule may yet forbid it, only at its end
};

/// Puts a request to the origin that `asked` is about, with these lines beside the request's own,
/// and waits for the head; what it says is in `exchange` then, and how long it took in the worker's
/// OriginTimes.
boost::asio::awaitable<FetchError> send_origin_request(const RequestSnapshot& request,
                                                       std::string_view lines, Exchange& exchange,
                                                       OriginRequest& asked);

}  // namespace proxy
