#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/fields.hpp>
#include <cstdint>
#include <string_view>

#include "proxy/config/config.hpp"

namespace proxy {

/// The decision to answer a request to the admin port, or the reason against it.
enum class AdminVerdict : std::uint8_t {
    granted,
    unknown_host,    // 403: any page could use this name in Host (DNS rebinding)
    proxied,         // 403: a proxy sent it, so the address is another than the sender's
    needs_token,     // 401: absent or wrong
    needs_loopback,  // 403: from another machine, while admin.token is empty
};

/// `guarded`: the route changes the node, or shows more than its state (routes.hpp). `from`:
/// address of the connection. The comparison of tokens takes a constant time.
AdminVerdict admit(const AdminConfig& config, const boost::beast::http::fields& request,
                   bool guarded, const boost::asio::ip::address& from);

/// Whether `Origin` names the page that this port itself serves: scheme http or https, and the
/// authority of Host. A browser adds the field to each POST of a page, and no page can forge it
/// (Fetch §3.2). admit() has checked Host.
bool is_from_own_page(const boost::beast::http::fields& request);

/// A sentence for the answer about the missing condition.
std::string_view explain(AdminVerdict refused);

}  // namespace proxy
