#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// The terms of one request to an origin.
struct OriginTerms {
    bool has_stand_in = false;  // a stored response may be given while the origin is unreachable
    bool is_repeatable = true;  // it may be sent to another server of a group after a failure
    /// Set: only the server of a group with this mark will do, as bytes of two servers must not
    /// become one body.
    std::optional<std::uint32_t> pin = std::nullopt;
};

/// The permission to send one request to an origin, and the record of its end in the worker's
/// OriginHealth and counters. Of a group it chooses one server after the other; UpstreamGroups then
/// takes the place of OriginHealth. One coroutine owns it; the worker must outlive it.
class OriginPermit {
public:
    /// `target` has its key.
    OriginPermit(Upstream& upstream, UpstreamTarget target, OriginTerms terms = {});
    /// A request without an end says nothing about the origin.
    ~OriginPermit();
    OriginPermit(const OriginPermit&) = delete;
    OriginPermit& operator=(const OriginPermit&) = delete;

    /// False: no request goes out now, for the reason of why_not().
    bool allowed() const { return leave_ != OriginHealth::Grant::no; }
    /// `origin_down`: the origin has a pause. `changed`: the pinned server is gone or down.
    FetchError why_not() const { return why_not_; }
    /// This request finds out whether the origin is back, which may take its time.
    bool is_trial() const { return leave_ == OriginHealth::Grant::trial; }
    /// Books the head, or its failure, and logs a failure. The first call counts. An end by this
    /// node (`abandoned`, `stopping`) is no failure of the origin. A request that a rule forbids
    /// counts as none. `status`: of the head.
    void ended(FetchError error, ParseError malformed = ParseError::ok, unsigned status = 0);
    /// The same for one of several servers, if the request may go to the next one. Then target() is
    /// that server, and the result is true. A request that may have been executed stays where it
    /// is. A 502, 503 or 504 also leads to the next server.
    bool goes_on_after(FetchError error, unsigned status = 0);
    /// The deadline for the connection: with other servers to come, half of the time to `latest`,
    /// and less for a server that is down.
    OriginHealth::Time connect_by(OriginHealth::Time latest) const;
    /// Books the time from the request to the head, and its version.
    void answered_after(std::chrono::nanoseconds time, int version) {
        upstream_.origin_times.measured(target_.key, time, version);
    }
    /// The request to target() is open as long as the result.
    OriginAnswers::Open open() const {
        return {upstream_.origin_answers, target_.site, target_.host, target_.port,
                std::chrono::steady_clock::now()};
    }
    /// Books the version of the head.
    void spoke(int version) { upstream_.origin_times.spoke(target_.key, version); }
    /// Its last head was of HTTP/1.0.
    bool is_http10() const { return upstream_.origin_times.is_http10(target_.key); }
    /// The chosen server. Valid until goes_on_after().
    const UpstreamTarget& target() const { return target_; }
    /// The counter for bytes of the response's body.
    std::uint64_t& received_bytes() const { return upstream_.counters.bytes_from_origins; }

private:
    OriginHealth::Grant ask_group();
    void choose();
    enum class Next : std::uint8_t { none, another_server };
    void end_attempt(FetchError error, ParseError malformed, unsigned status, Next next);
    void note_answer(FetchError error, unsigned status, Next next);
    void book(OriginHealth::End end);
    void book_in_group(FetchError error, unsigned status);
    void count();

    Upstream& upstream_;
    UpstreamTarget target_;
    const OriginTerms terms_;
    const OriginHealth::Time began_;
    std::optional<UpstreamGroups::Turn> turn_;  // of a group
    FetchError why_not_ = FetchError::origin_down;
    const OriginHealth::Grant leave_;
    bool open_;
    bool counted_ = false;  // as a request; if a rule may still forbid it, at its end
};

/// The span of one request to the chosen server; empty if the request is not sampled.
OpenSpan open_origin_span(const RequestSnapshot& request, const UpstreamTarget& target);
/// Notes the head in the span of `exchange`, or the failure, which ends the span.
void note_head(Exchange& exchange, FetchError error);

/// A 407 of a parent proxy is about this node's credentials, so it is no response for a client
/// (RFC 9110 §15.5.8): it becomes FetchError::parent_denied.
FetchError judged_by_parent(const UpstreamTarget& target, FetchError error, unsigned status);

/// Sends `request` to the origin of `asked`, with `lines` beside its own, and waits for the head.
/// A group gives it to one server after the other, as goes_on_after() says. On success `exchange`
/// has the head, and the worker's OriginTimes have its time.
boost::asio::awaitable<FetchError> send_origin_request(const RequestSnapshot& request,
                                                       std::string_view lines, Exchange& exchange,
                                                       OriginPermit& asked);

}  // namespace proxy
