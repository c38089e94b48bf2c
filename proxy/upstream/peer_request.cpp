#include "proxy/upstream/peer_request.hpp"

#include "proxy/http/cache_status.hpp"
#include "proxy/upstream/failure_log.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

/// A peer that lacks the content is no failure.
void end_span(OpenSpan& span, PeerVerdict verdict, FetchError error) {
    if (!span) return;
    span.add("hearsay.peer_verdict", to_string(verdict));
    const auto failed = verdict == PeerVerdict::failure || verdict == PeerVerdict::timeout;
    if (failed) span.fail(error == FetchError::none ? to_string(verdict) : to_string(error));
    span.end();
}

}  // namespace

PeerRequest::PeerRequest(Upstream& upstream, PeerOfView peer, PeerPatience patience)
    : upstream_(upstream),
      peer_(std::move(peer)),
      patience_(patience),
      exchange_(upstream.pool, upstream.head_limits(),
                {.received_bytes = &upstream.counters.bytes_from_peers, .with_peer = true}) {}

PeerRequest::~PeerRequest() {
    lost();
}

/// The peers may change while we wait, and with them the records: a name finds its record again.
PeerRecord& PeerRequest::record() {
    return upstream_.peers.of_or_gone(peer().node);
}

/// Adds `traceparent` to the head `request`. The peer's span has the one that begins here as its
/// parent.
void PeerRequest::begin_span(std::string& request) {
    constexpr std::string_view kEndOfHead = "\r\n";
    span_ = OpenSpan(trace_, SpanKind::client, "peer request");
    if (span_) {
        span_.add("http.request.method", std::string_view(request).substr(0, request.find(' ')));
        span_.add("hearsay.peer", peer().node);
        const auto target = peer_.target();
        span_.add("server.address", target.host);
        span_.add_number("server.port", target.port);
    }
    std::string line;
    append_trace_line(line, sent_context(trace_, span_));
    request.insert(request.size() - kEndOfHead.size(), line);
}

asio::awaitable<PeerVerdict> PeerRequest::send(std::string request, bool promised) {
    ++upstream_.counters.peer_requests;
    record().asked();
    if (noted_in_) note_ = noted_in_->asked(peer().node);
    open_ = true;
    begun_ = Clock::now();
    if (trace_) begin_span(request);
    const Exchange::Request out{std::move(request), false, true};
    const auto target = peer_.target();
    const Exchange::Patience patience{begun_ + patience_.latest, patience_.latest,
                                      begun_ + patience_.latest};
    const auto error = co_await exchange_.run(target, out, patience);
    if (error != FetchError::none) {
        failed_by_ = error;
        const auto late = error == FetchError::head_timeout || error == FetchError::connect_timeout;
        close(late ? PeerVerdict::timeout : PeerVerdict::failure);
        co_return late ? PeerVerdict::timeout : PeerVerdict::failure;
    }
    if (is_measured_) record().answered_after(exchange_.time_to_head(), Clock::now());
    answered_ = true;
    const auto& head = exchange_.head();
    span_.add_number("http.response.status_code", head.status);
    const auto reason = head.status == 504 ? refusal_of(head.fields) : Refusal::unknown;
    if (reason == Refusal::unknown) {  // a 504 may also be stored
        if (noted_in_ && open_) noted_in_->answered(note_, PeerVerdict::hit);
        co_return PeerVerdict::hit;
    }
    exchange_.terms().received_bytes = nullptr;  // no content; the peer counts none either
    if (auto* const of_this_instance = upstream_.peers.of(peer().node, peer().instance))
        of_this_instance->recognised(Clock::now());
    const auto verdict =
        reason == Refusal::absent && !promised ? PeerVerdict::refused : verdict_of(reason);
    close(verdict);
    co_return verdict;
}

asio::awaitable<void> PeerRequest::discard() {
    co_await exchange_.discard(Clock::now() + patience_.latest);
}

void PeerRequest::was_of_use(bool of_use, Duration alone, const RoundTrip& origin) {
    const auto took = answered_ ? Duration(exchange_.time_to_head()) : Clock::now() - begun_;
    record().won(time_won(of_use, took, alone, origin));
}

void PeerRequest::lost() {
    if (!open_) return;
    const auto late = !answered_ && Clock::now() - begun_ >= patience_.budget;
    if (late) failed_by_ = FetchError::head_timeout;
    close(late ? PeerVerdict::timeout : PeerVerdict::outrun);
}

void PeerRequest::close(PeerVerdict verdict) {
    if (!open_) return;
    open_ = false;
    if (noted_in_) noted_in_->answered(note_, verdict);
    end_span(span_, verdict, failed_by_);
    auto& record = this->record();
    // The peer may have given its answer to both, and only one came.
    if (exchange_.sent_twice()) record.sent_again();
    const auto now = Clock::now();
    const auto failed = verdict == PeerVerdict::failure || verdict == PeerVerdict::timeout;
    const auto has_body = verdict == PeerVerdict::hit && exchange_.head().status != 304;
    if (has_body && is_measured_ && exchange_.done() && exchange_.content_length())
        record.gave_body(*exchange_.content_length(), now - begun_ - exchange_.time_to_head(), now);
    // A request to an earlier instance says nothing about the present instance of the node.
    const auto is_this_instance = upstream_.peers.of(peer().node, peer().instance) != nullptr;
    record.ended(failed && !is_this_instance ? PeerVerdict::outrun : verdict, now);
    if (!is_this_instance) return;
    if ((failed || verdict == PeerVerdict::unusable) && failed_by_ != FetchError::abandoned)
        record.failed_by(exchange_.malformed() != ParseError::ok ? to_string(exchange_.malformed())
                         : failed_by_ != FetchError::none        ? to_string(failed_by_)
                                                                 : "unusable",
                         now);
    if (failed && record.broken() && failed_by_ != FetchError::abandoned)
        log_peer_failures(upstream_.log, peer().node, peer_.target(), failed_by_,
                          exchange_.malformed(), record.left_alone_until() - now);
}

}  // namespace proxy
