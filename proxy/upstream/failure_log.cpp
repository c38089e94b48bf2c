#include "proxy/upstream/failure_log.hpp"

#include <spdlog/spdlog.h>

#include "proxy/upstream/peer_choice.hpp"

namespace proxy {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

bool is_of_the_origin(FetchError error) {
    switch (error) {
        case FetchError::resolve_failed:
        case FetchError::resolve_timeout:
        case FetchError::connect_failed:
        case FetchError::connect_timeout:
        case FetchError::head_timeout:
        case FetchError::body_timeout:
        case FetchError::reset:
        case FetchError::malformed:
        case FetchError::busy:
            return true;
        default:
            return false;
    }
}

void log_failure(RateLimitedLog& log, const UpstreamTarget& origin, FetchError error,
                 ParseError what) {
    if (!is_of_the_origin(error)) return;
    const auto place = origin.text();
    if (const auto more = log.admit(place, Clock::now()))
        spdlog::warn("{} [{} {}]{}", explain(error, origin.host, what), place, to_string(error),
                     *more);
}

void log_peer_failures(RateLimitedLog& log, std::string_view node, const UpstreamTarget& peer,
                       FetchError last, ParseError what, std::chrono::nanoseconds breaker_open) {
    const auto place = peer.text();
    const auto more = log.admit(node, Clock::now());
    if (!more) return;
    const auto cause = what != ParseError::ok     ? to_string(what)
                       : last != FetchError::none ? to_string(last)
                                                  : std::string_view("no usable body");
    spdlog::warn("peer {} has failed {} times in a row, is left alone for {:.1f} s [{} {}]{}", node,
                 kBreakerFailures, std::chrono::duration<double>(breaker_open).count(), place,
                 cause, *more);
}

}  // namespace proxy
