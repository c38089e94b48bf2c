#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// The permission to send one request to an origin, and the record of its end in the worker's
/// OriginHealth and counters. One coroutine owns it; the worker must outlive it.
class OriginRequest {
public:
    /// `has_stand_in`: a stored response may be given while the origin is unreachable.
    OriginRequest(Upstream& upstream, UpstreamTarget target, bool has_stand_in = false);
    /// A request without an end says nothing about the origin.
    ~OriginRequest();
    OriginRequest(const OriginRequest&) = delete;
    OriginRequest& operator=(const OriginRequest&) = delete;

    /// False: the origin has a pause and gets no request now (FetchError::origin_down).
    bool allowed() const { return leave_ != OriginHealth::Leave::no; }
    /// This request finds out whether the origin is back, which may take its time.
    bool is_trial() const { return leave_ == OriginHealth::Leave::trial; }
    /// Books the head, or its failure, and logs a failure. The first call counts. An end by this
    /// node (`abandoned`, `stopping`) is no failure of the origin. A request that a rule forbids
    /// counts as none.
    void ended(FetchError error, ParseError malformed = ParseError::ok);
    /// Books the time from the request to the head.
    void answered_after(std::chrono::nanoseconds time) {
        upstream_.origin_times.measured(key_, time);
    }
    const UpstreamTarget& target() const { return target_; }
    /// The counter for bytes of the response's body.
    std::uint64_t& received_bytes() const { return upstream_.counters.bytes_from_origins; }

private:
    void book(OriginHealth::End end);
    void count();

    Upstream& upstream_;
    const UpstreamTarget target_;
    const std::string key_;
    const OriginHealth::Time began_;
    const OriginHealth::Leave leave_;
    bool open_;
    bool counted_ = false;  // as a request; if a rule may still forbid it, at its end
};

/// Sends `request` to the origin of `asked`, with `lines` beside its own, and waits for the head.
/// On success `exchange` has the head, and the worker's OriginTimes have its time.
boost::asio::awaitable<FetchError> send_origin_request(const RequestSnapshot& request,
                                                       std::string_view lines, Exchange& exchange,
                                                       OriginRequest& asked);

}  // namespace proxy
