#pragma once

#include <chrono>
#include <string_view>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"
#include "proxy/upstream/part_responses.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// An origin gave no usable answer: a warning that says which, and why. Nothing for what is not
/// told so (Failure::is_logged).
void log_failure(RateLimitedLog& log, const UpstreamTarget& origin, FetchError error,
                 ParseError what = ParseError::ok);

/// An origin does not give a part of a body as it should: a warning that says why. `in_one_piece`:
/// what it has there is not asked for in parts from now on.
void log_part(RateLimitedLog& log, const UpstreamTarget& origin, PartTrouble trouble,
              unsigned status, bool in_one_piece);

/// A peer has failed several times in a row and is left alone for a while.
void log_peer_failures(RateLimitedLog& log, std::string_view node, const UpstreamTarget& peer,
                       FetchError last, ParseError what, std::chrono::nanoseconds breaker_open);

}  // namespace proxy
