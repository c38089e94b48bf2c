#include "proxy/upstream/origin_permit.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "proxy/upstream/failure_log.hpp"
#include "proxy/upstream/origin_trouble.hpp"
#include "proxy/upstream/shown_url.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using End = OriginHealth::End;

/// A server that was down gets so long for a connection while others are up.
constexpr std::chrono::seconds kTrialPatience{1};

/// The server got nothing of the request.
bool is_of_connecting(FetchError error) {
    return error == FetchError::connect_failed || error == FetchError::connect_timeout ||
           error == FetchError::resolve_failed || error == FetchError::resolve_timeout ||
           error == FetchError::parent_tls_failed;
}

/// A server without its application. Another one may have it.
bool is_gateway_trouble(unsigned status) {
    return status >= 502 && status <= 504;
}

}  // namespace

OriginPermit::OriginPermit(Upstream& upstream, UpstreamTarget target, OriginTerms terms)
    : upstream_(upstream),
      target_(std::move(target)),
      terms_(terms),
      began_(std::chrono::steady_clock::now()),
      leave_(target_.group
                 ? ask_group()
                 : upstream.origin_health.may_ask(target_.key, terms.has_stand_in, began_)),
      open_(allowed()) {
    if (!allowed() && why_not_ == FetchError::origin_down)
        ++upstream.counters.origin_down_requests;
    else if (allowed() && !target_.on_clients_word)
        count();
}

/// Chooses the first server. A parent proxy is not the source of the content, so any will do.
OriginHealth::Grant OriginPermit::ask_group() {
    using Grant = OriginHealth::Grant;
    const auto is_pinned = terms_.pin && !target_.group->parents;
    if (is_pinned) why_not_ = FetchError::changed;
    if (is_pinned && *terms_.pin == 0) return Grant::no;
    turn_.emplace(upstream_.shared.groups, target_.group, target_.spread, terms_.is_repeatable,
                  is_pinned ? *terms_.pin : 0, began_);
    if (!turn_->server()) return Grant::no;
    if (turn_->all_down() && terms_.has_stand_in && !turn_->is_trial()) {
        turn_.reset();
        return Grant::no;
    }
    choose();
    return turn_->all_down() && turn_->is_trial() ? Grant::trial : Grant::ask;
}

void OriginPermit::choose() {
    const auto* server = turn_->server();
    if (target_.group->parents) {
        target_.via = server;
        return;
    }
    static_cast<HostPort&>(target_) = server->place;
    target_.mark = server->mark;
}

OriginPermit::~OriginPermit() {
    if (!open_) return;
    count();
    book(End::unknown);
}

void OriginPermit::count() {
    if (!std::exchange(counted_, true)) ++upstream_.counters.origin_requests;
}

void OriginPermit::ended(FetchError error, ParseError malformed, unsigned status) {
    end_attempt(error, malformed, status, Next::none);
}

void OriginPermit::end_attempt(FetchError error, ParseError malformed, unsigned status, Next next) {
    if (!open_) return;
    const auto& meaning = consequences_of(error);
    if (meaning.by == FailureSide::rule) return book(End::unknown);
    count();
    if (error != FetchError::none && meaning.by != FailureSide::nobody) {
        ++upstream_.counters.origin_failures;
        log_failure(upstream_.log, target_, error, malformed);
    }
    note_answer(error, status, next);
    if (turn_) book_in_group(error, status);
    book(meaning.end);
}

/// The outage of an origin counts requests: of those that several servers get, the last attempt.
void OriginPermit::note_answer(FetchError error, unsigned status, Next next) {
    auto& answers = upstream_.origin_answers;
    const auto now = std::chrono::steady_clock::now();
    const auto is_last = next == Next::none;
    // A body that stops comes after a head, which has counted as an answer.
    if (error != FetchError::none && consequences_of(error).by == FailureSide::origin && is_last)
        answers.note_failure(target_.site, target_.host, target_.port, to_string(error), now);
    if (error != FetchError::none || status == 0) return;
    if (is_last)
        answers.note(target_.site, target_.host, target_.port, status, now);
    else
        answers.note_replaced(target_.site, target_.host, target_.port, status, now);
}

/// A parent that passes an error of its target on is well. So is one whose tunnel breaks.
void OriginPermit::book_in_group(FetchError error, unsigned status) {
    const auto& meaning = consequences_of(error);
    if (meaning.by != FailureSide::origin && error != FetchError::none) return;
    auto end = UpstreamGroup::End::answered;
    if (error != FetchError::none)
        end = is_of_connecting(error) || (!target_.via && (error == FetchError::reset ||
                                                           error == FetchError::head_timeout ||
                                                           error == FetchError::tls_failed))
                  ? UpstreamGroup::End::unreachable
                  : UpstreamGroup::End::failed;
    else if (!target_.via && is_gateway_trouble(status))
        end = UpstreamGroup::End::failed;
    turn_->ended(end, std::chrono::steady_clock::now());
}

bool OriginPermit::goes_on_after(FetchError error, unsigned status) {
    if (!open_ || !turn_ || !turn_->has_next()) return false;
    const auto is_unsent = is_of_connecting(error) || error == FetchError::busy ||
                           (error == FetchError::tls_failed && !target_.via) ||
                           error == FetchError::parent_refused;
    const auto may_repeat =
        terms_.is_repeatable &&
        (error == FetchError::reset || (error == FetchError::none && !target_.via &&
                                        is_gateway_trouble(status) && !turn_->all_down()));
    if (!is_unsent && !may_repeat) return false;
    end_attempt(error, ParseError::ok, status, Next::another_server);
    turn_->next(std::chrono::steady_clock::now());
    choose();
    open_ = true;
    counted_ = false;
    if (!target_.on_clients_word) count();
    return true;
}

OriginHealth::Time OriginPermit::connect_by(OriginHealth::Time latest) const {
    if (!turn_ || !turn_->has_next()) return latest;
    const auto now = std::chrono::steady_clock::now();
    const auto half = now + std::max<std::chrono::nanoseconds>(latest - now, {}) / 2;
    return turn_->is_trial() ? std::min(half, now + kTrialPatience) : half;
}

void OriginPermit::book(End end) {
    if (!open_) return;
    open_ = false;
    if (turn_) return;
    const auto now = std::chrono::steady_clock::now();
    const auto& key = target_.key;
    const auto name = std::string_view(key).substr(0, key.find_first_of("!/"));
    const auto change = upstream_.origin_health.ended(key, end, began_, now);
    upstream_.counters.origins_down = upstream_.origin_health.down();
    switch (change) {
        case OriginHealth::Change::none:
            break;
        case OriginHealth::Change::fell_silent:
            spdlog::warn(
                "{} left the last {} requests without an answer: until it answers, what is stored "
                "and may be given in its place is given at once",
                name, kOriginTimeouts);
            break;
        case OriginHealth::Change::went_down:
            spdlog::warn(
                "{} took none of the last {} connections: one request tries every few seconds, "
                "others get what is stored, or 504",
                name, kOriginTimeouts);
            break;
        case OriginHealth::Change::came_back:
            spdlog::info("{} answers again", name);
            break;
    }
}

OpenSpan open_origin_span(const RequestSnapshot& request, const UpstreamTarget& target) {
    OpenSpan span(request.trace, SpanKind::client, "origin fetch");
    if (!span) return span;
    span.add("http.request.method", request.method);
    const auto url = shown_url_at_origin(request.key, request.policy(), request.of_redirect);
    span.add("url.full", url);
    span.add("server.address", target.host);
    span.add_number("server.port", target.port);
    if (target.via) span.add("hearsay.parent", target.via->place.text());
    return span;
}

void note_head(Exchange& exchange, FetchError error) {
    constexpr unsigned kServerErrors = 500;
    auto& span = exchange.span();
    if (!span) return;
    if (error == FetchError::none) {
        const auto status = exchange.head().status;
        span.add_number("http.response.status_code", status);
        span.add("network.peer.address", exchange.server());
        if (status >= kServerErrors) span.fail(std::to_string(status));
        return;
    }
    span.fail(to_string(error));
    span.end();
}

FetchError judged_by_parent(const UpstreamTarget& target, FetchError error, unsigned status) {
    const auto denied = error == FetchError::none && target.via && status == 407;
    return denied ? FetchError::parent_denied : error;
}

asio::awaitable<FetchError> send_origin_request(const RequestSnapshot& asks, std::string_view lines,
                                                Exchange& exchange, OriginPermit& asked) {
    const auto& config = asks.config();
    if (!asked.allowed()) co_return asked.why_not();
    const auto& timeouts = config.timeouts;
    const auto connected = Exchange::Clock::now() + timeouts.origin_connect;
    exchange.terms().received_bytes = &asked.received_bytes();
    for (;;) {
        const auto& target = asked.target();
        exchange.trace(open_origin_span(asks, target));
        const auto context = sent_context(asks.trace, exchange.span());
        const Exchange::Request request{
            origin_request(asks, target, name_in_via(config, target), lines, context), false, true};
        const Exchange::Patience patience{asked.connect_by(connected), timeouts.origin_head};
        const auto open = asked.open();
        const auto ended = co_await exchange.run(target, request, patience);
        const auto status = ended == FetchError::none ? exchange.head().status : 0;
        const auto error = judged_by_parent(target, ended, status);
        note_head(exchange, error);
        if (asked.goes_on_after(error, status)) {
            exchange.finish();
            continue;
        }
        if (error == FetchError::none)
            asked.answered_after(exchange.time_to_head(), exchange.head().version);
        asked.ended(error, exchange.malformed(), status);
        co_return error;
    }
}

}  // namespace proxy
