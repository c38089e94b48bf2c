#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proxy/admin/hooks.hpp"

namespace proxy {

using AdminRequest = boost::beast::http::request<boost::beast::http::string_body>;
using AdminResponse = boost::beast::http::response<boost::beast::http::string_body>;

enum class AdminMethod : std::uint8_t {
    get,   // HEAD too
    post,  // changes something
};
enum class Guard : std::uint8_t {
    open,     // to everybody who reaches the port, unless admin.token_for says otherwise
    guarded,  // admission.hpp
};

/// One thing that the admin port does.
struct AdminRoute {
    AdminMethod method;
    std::string_view path;
    Guard guard;
    std::string_view does;  // a predicate for the 404 and the 405, as "drains this node"
    /// The request and the hooks outlive the coroutine.
    boost::asio::awaitable<AdminResponse> (*handler)(const AdminRequest&, const AdminHooks&);
};

/// All of them; those of one path stand together.
std::span<const AdminRoute> admin_routes();

/// Null when there is none. `target`: as in the request, or without its query.
const AdminRoute* find_route(boost::beast::http::verb method, std::string_view target);

/// As the route says. Where there is none: whatever could change something, and all below /api/.
bool is_guarded(boost::beast::http::verb method, std::string_view target);

/// 405 with Allow where the path is known, else 404; both tell what there is.
AdminResponse no_route(const AdminRequest& request);

/// An answer of the admin port: never to be stored.
AdminResponse admin_answer(const AdminRequest& request, boost::beast::http::status status,
                           std::string_view type, std::string body);
AdminResponse admin_text(const AdminRequest& request, boost::beast::http::status status,
                         std::string body);

}  // namespace proxy
