#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/fields.hpp>
#include <cstdint>
#include <string_view>

#include "proxy/config/config.hpp"

namespace proxy {

/// Whether a request to the admin port is answered, and if not, why.
enum class Admission : std::uint8_t {
    granted,
    unknown_host,    // 403: the name in Host could be anybody's (DNS rebinding)
    proxied,         // 403: it came through a proxy, so its sender is not who connected
    needs_token,     // 401: none, or not the right one
    needs_loopback,  // 403: no token is configured, and it came from another machine
};

/// `guarded`: what is asked for changes something or shows more than state (routes.hpp).
/// `from`: the connection's address. Tokens are compared in a time that says nothing of them.
Admission admit(const AdminConfig& config, const boost::beast::http::fields& request, bool guarded,
                const boost::asio::ip::address& from);

/// For the answer: what is missing.
std::string_view explain(Admission refused);

}  // namespace proxy
