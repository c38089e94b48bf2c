#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "proxy/http/fields.hpp"

namespace proxy {

/// Bounds of a user's name and password in bytes. Longer ones are no credentials of anybody.
inline constexpr std::size_t kMaxUserBytes = 255, kMaxPasswordBytes = 511;

/// The statement of Proxy-Authorization in a request. Name and password are bytes as received; the
/// challenge asks for UTF-8.
struct ProxyCredentials {
    enum class State : std::uint8_t {
        absent,     // no field, or a scheme other than Basic
        malformed,  // several fields, or a text that is no pair of name and password
        given,
    };
    State state = State::absent;
    std::string user = {}, password = {};
};

/// Reads the credentials for a proxy by the scheme Basic (RFC 7617 §2). A control character makes
/// them malformed, as the RFC forbids it.
ProxyCredentials proxy_credentials(Fields request);

/// The value of Proxy-Authenticate that asks for them. `realm` is printable ASCII.
std::string basic_challenge(const std::string& realm);

}  // namespace proxy
