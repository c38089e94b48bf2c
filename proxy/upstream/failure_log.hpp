#pragma once

#include <chrono>
#include <string_view>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"
#include "proxy/upstream/part_responses.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// Warns that an origin gave no usable response, with the reason. Errors without
/// ErrorMeaning::is_logged are skipped.
void log_failure(RateLimitedLog& log, const UpstreamTarget& origin, FetchError error,
                 ParseError what = ParseError::ok);

/// Warns that an origin does not give a part of a body as it should, with the reason.
/// `in_one_piece`: bodies there come in one response from now on.
void log_part(RateLimitedLog& log, const UpstreamTarget& origin, PartTrouble trouble,
              unsigned status, bool in_one_piece);

/// Warns that a peer has failed several times in a row and gets no request for a while.
void log_peer_failures(RateLimitedLog& log, std::string_view node, const UpstreamTarget& peer,
                       FetchError last, ParseError what, std::chrono::nanoseconds breaker_open);

}  // namespace proxy
