#include "proxy/upstream/origin_request.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/upstream/failure_log.hpp"
#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using End = OriginHealth::End;

}  // namespace

OriginRequest::OriginRequest(Upstream& upstream, UpstreamTarget target, bool has_stand_in)
    : upstream_(upstream),
      target_(std::move(target)),
      key_(connection_key(target_)),
      began_(std::chrono::steady_clock::now()),
      leave_(upstream.origin_health.may_ask(key_, has_stand_in, began_)),
      open_(allowed()) {
    if (!allowed())
        ++upstream.counters.origin_down_requests;
    else if (!target_.on_clients_word)
        count();
}

OriginRequest::~OriginRequest() {
    if (open_) count();
    book(End::unknown);
}

void OriginRequest::count() {
    if (!std::exchange(counted_, true)) ++upstream_.counters.origin_requests;
}

void OriginRequest::ended(FetchError error, ParseError malformed) {
    if (!open_) return;
    const auto& meaning = consequences_of(error);
    if (meaning.by == EndedBy::rule) return book(End::unknown);
    count();
    if (error != FetchError::none && meaning.by != EndedBy::nobody) {
        ++upstream_.counters.origin_failures;
        log_failure(upstream_.log, target_, error, malformed);
    }
    book(meaning.end);
}

void OriginRequest::book(End end) {
    if (!open_) return;
    open_ = false;
    const auto now = std::chrono::steady_clock::now();
    const auto name = std::string_view(key_).substr(0, key_.find_first_of("!/"));
    const auto change = upstream_.origin_health.ended(key_, end, began_, now);
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

asio::awaitable<FetchError> send_origin_request(const RequestSnapshot& asks, std::string_view lines,
                                                Exchange& exchange, OriginRequest& asked) {
    const auto& config = asks.config();
    if (!asked.allowed()) co_return FetchError::origin_down;
    const Exchange::Request request{origin_request(asks, config.node, lines), false, true};
    const Exchange::Patience patience{Exchange::Clock::now() + config.timeouts.origin_connect,
                                      config.timeouts.origin_head};
    exchange.count_into(asked.received_bytes());
    const auto error = co_await exchange.run(asked.target(), request, patience);
    if (error == FetchError::none) asked.answered_after(exchange.time_to_head());
    asked.ended(error, exchange.malformed());
    co_return error;
}

}  // namespace proxy
