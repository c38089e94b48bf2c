#include "proxy/forwarding/origin_question.hpp"

#include <spdlog/spdlog.h>

#include "proxy/forwarding/failure_log.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using End = OriginHealth::End;

End end_of(FetchError error) {
    switch (error) {
        case FetchError::connect_timeout:
            return End::not_connected;
        case FetchError::head_timeout:
            return End::not_answered;
        case FetchError::resolve_failed:
        case FetchError::resolve_timeout:
        case FetchError::busy:
        case FetchError::no_descriptors:
        case FetchError::not_allowed:
        case FetchError::own_listener:
        case FetchError::origin_down:
        case FetchError::abandoned:
        case FetchError::stopping:
            return End::untold;
        default:
            return End::answered;
    }
}

/// This node ended the question itself.
bool is_our_own(FetchError error) {
    return error == FetchError::abandoned || error == FetchError::stopping;
}

}  // namespace

OriginQuestion::OriginQuestion(Worker& worker, UpstreamTarget target, bool has_stand_in)
    : worker_(worker),
      target_(std::move(target)),
      place_(place_of(target_)),
      began_(std::chrono::steady_clock::now()),
      leave_(worker.origin_health.may_ask(place_, has_stand_in, began_)),
      open_(allowed()) {
    ++(allowed() ? worker.counters.origin_requests : worker.counters.origin_down_requests);
}

OriginQuestion::~OriginQuestion() {
    book(End::untold);
}

void OriginQuestion::ended(FetchError error, ParseError malformed) {
    if (!open_) return;
    if (error != FetchError::none && !is_our_own(error)) {
        ++worker_.counters.origin_failures;
        log_failure(worker_.upstream_log, target_, error, malformed);
    }
    book(end_of(error));
}

void OriginQuestion::book(End end) {
    if (!open_) return;
    open_ = false;
    const auto now = std::chrono::steady_clock::now();
    const auto name = place_.substr(0, place_.find_first_of("!/"));
    const auto change = worker_.origin_health.ended(place_, end, began_, now);
    worker_.counters.origins_down = worker_.origin_health.down();
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

asio::awaitable<FetchError> ask_origin(const RequestSnapshot& asks, const Config& config,
                                       std::string_view lines, Exchange& exchange,
                                       OriginQuestion& asked) {
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

asio::awaitable<FetchError> ask_origin(Worker& worker, const FetchJob& job, std::string_view lines,
                                       Exchange& exchange) {
    const auto* target = std::get_if<UpstreamTarget>(&job.route);
    if (target == nullptr) co_return FetchError::not_allowed;
    OriginQuestion asked(worker, *target);
    co_return co_await ask_origin(*job.request, *job.config, lines, exchange, asked);
}

}  // namespace proxy
