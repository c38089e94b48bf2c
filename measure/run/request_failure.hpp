#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace measure {

/// The reason why a request failed.
enum class RequestFailure : std::uint8_t {
    connect,     ///< the proxy could not be reached
    cut,         ///< the connection ended before the answer
    timeout,     ///< the answer was incomplete at the deadline
    malformed,   ///< the answer is not HTTP
    bad_status,  ///< 5xx, or another status than 200 where the built-in origin's body is expected
    refused,     ///< 4xx by the proxy itself, without forwarding
    wrong_body,  ///< the bytes differ from the body of the origin for this URL
};
inline constexpr std::size_t kFailures = 7;
std::string_view to_string(RequestFailure failure);

}  // namespace measure
