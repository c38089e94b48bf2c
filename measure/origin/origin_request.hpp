#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "measure/origin/body.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/message_parser.hpp"

namespace measure {

/// What the built-in origin calls itself in `Server`: its bodies are known by it.
inline constexpr std::string_view kOriginName = "hearsay-origin";
inline constexpr std::uint64_t kDefaultBodyBytes = 1024;
inline constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 40;
inline constexpr std::chrono::seconds kDefaultMaxAge{24 * 3600};
inline constexpr std::chrono::seconds kLongestMaxAge{2'147'483'647};
inline constexpr std::chrono::milliseconds kMaxDelay{600'000};

/// What the origin answers to one request: a head ready to send, and which part of the body
/// follows.
struct OriginAnswer {
    std::string head;
    std::optional<Body> body;  ///< absent for HEAD, 304, errors
    std::uint64_t begin = 0, end = 0;
    std::chrono::milliseconds delay{0};
    bool keep_alive = true;
};

/// Decides the answer to `request`; `head` of the answer is reused. `key` is scratch that keeps its
/// memory between calls. Every field the origin knows is obeyed, or answered with 400:
/// - Hearsay-Bytes: length of the body (1024)
/// - Hearsay-Max-Age: seconds of freshness (86400)
/// - Hearsay-Delay: milliseconds before the answer (0)
/// - If-None-Match, If-Modified-Since: 304 when they hold
/// - Range: 206 with one part, or 416; the whole body for several parts, other units or an If-Range
///   that does not hold
///
/// GET and HEAD may be stored; other methods get the same body with `no-store`, CONNECT and TRACE
/// get 405.
void answer_origin_request(const proxy::Head& request, bool keep_alive, proxy::WallTime now,
                           proxy::CacheKey& key, OriginAnswer& answer);

/// An answer without a body of its own making, as for malformed requests.
void answer_error(unsigned status, std::string_view why, bool keep_alive, proxy::WallTime now,
                  OriginAnswer& answer);

}  // namespace measure
