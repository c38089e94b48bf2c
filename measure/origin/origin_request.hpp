#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "measure/origin/origin_body.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/message_parser.hpp"

namespace measure {

/// The value of `Server` in answers of the built-in origin. The replay recognises its bodies by it.
inline constexpr std::string_view kOriginName = "hearsay-origin";
inline constexpr std::uint64_t kDefaultBodyBytes = 1024;
inline constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 40;
inline constexpr std::chrono::seconds kDefaultMaxAge{24 * 3600};
inline constexpr std::chrono::seconds kLongestMaxAge{2'147'483'647};
inline constexpr std::chrono::milliseconds kMaxDelay{600'000};

/// The answer of the origin to one request: a head ready to send, and the part of the body that
/// follows.
struct OriginAnswer {
    std::string head;
    std::optional<OriginBody> body;  ///< absent for HEAD, 304 and errors
    std::uint64_t begin = 0, end = 0;
    std::chrono::milliseconds delay{0};
    bool keep_alive = true;
};

/// Decides the answer to `request` and reuses the memory of `answer.head`. `key` is scratch that
/// keeps its memory between calls. The origin obeys each field below, and answers 400 to a value
/// that it cannot read:
/// - Hearsay-Bytes: length of the body (1024)
/// - Hearsay-Max-Age: seconds of freshness (86400)
/// - Hearsay-Delay: milliseconds before the answer (0)
/// - If-None-Match, If-Modified-Since: 304 if the condition holds
/// - Range: 206 with one part, or 416. The whole body follows for several parts, for other units
/// and for a failed If-Range.
/// Caches may store GET and HEAD. Other methods get the same body with `no-store`; CONNECT and
/// TRACE get 405.
void answer_origin_request(const proxy::Head& request, bool keep_alive, proxy::WallTime now,
                           proxy::CacheKey& key, OriginAnswer& answer);

/// Writes an answer with a short text as its body, for example to a malformed request.
void answer_error(unsigned status, std::string_view why, bool keep_alive, proxy::WallTime now,
                  OriginAnswer& answer);

}  // namespace measure
