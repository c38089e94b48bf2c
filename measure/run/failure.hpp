#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace measure {

/// Why a request got no good answer.
enum class Failure : std::uint8_t {
    connect,     ///< no connection to the proxy
    cut,         ///< the connection broke before the whole answer was there
    timeout,     ///< no whole answer within the deadline
    malformed,   ///< not HTTP
    bad_status,  ///< 5xx, or anything but 200 where the built-in origin's body is expected
    refused,     ///< 4xx of the proxy's own: it asked nobody
    wrong_body,  ///< other bytes, or fewer, than the origin gives for this URL
};
inline constexpr std::size_t kFailures = 7;
std::string_view to_string(Failure failure);

}  // namespace measure
