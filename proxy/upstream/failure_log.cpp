#include "proxy/upstream/failure_log.hpp"

#include <spdlog/spdlog.h>

#include "proxy/upstream/origin_trouble.hpp"
#include "proxy/upstream/peer_record.hpp"

namespace proxy {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

void log_failure(RateLimitedLog& log, const UpstreamTarget& origin, FetchError error,
                 ParseError what) {
    if (!consequences_of(error).is_logged) return;
    auto place = place_text(origin);
    // A broken parent fails all targets, and is one trouble.
    const auto more = log.admit(origin.via ? origin.via->place.text() : place, Clock::now());
    if (!more) return;
    if (origin.via) place.append(" through ").append(origin.via->place.text());
    const auto is_member = origin.group && !origin.group->parents;
    const auto text =
        explain(error, is_member ? origin.group->name : origin.host, what, asked_server(origin));
    spdlog::warn("{} [{} {}]{}", text, place, to_string(error), *more);
}

void log_part(RateLimitedLog& log, const UpstreamTarget& origin, PartTrouble trouble,
              unsigned status, bool in_one_piece) {
    const auto place = place_text(origin);
    const auto more = log.admit("parts of " + place, Clock::now());
    if (!more) return;
    spdlog::warn("{} did not give a part of a body: {}{} [{} {}]{}", origin.host,
                 to_string(trouble),
                 in_one_piece ? "; for 10 minutes its bodies there are not asked for in parts" : "",
                 place, status, *more);
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
