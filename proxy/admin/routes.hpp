#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/admin/admin_response.hpp"
#include "proxy/admin/node_control.hpp"

namespace proxy {

enum class AdminMethod : std::uint8_t {
    get,   // HEAD too
    post,  // changes the node
};
enum class Guard : std::uint8_t {
    page,     // to every client of the port: a browser opens pages without a token
    open,     // the same, unless admin.token_for is `all`
    guarded,  // admin_access.hpp
};

/// One row of the table: a method and a path of the admin port.
struct AdminRoute {
    AdminMethod method;
    std::string_view path;  // with a slash at its end: all below it, too
    Guard guard;
    std::string_view does;  // a predicate for 404 and 405 pages, as "drains this node"
    /// The request and the node outlive the coroutine.
    boost::asio::awaitable<AdminResponse> (*handler)(const AdminRequest&, NodeControl&);
};

/// The whole table. Rows of one path stand together.
std::span<const AdminRoute> admin_routes();

/// The row of a request, or null. `target`: as in the request, or without its query.
const AdminRoute* find_route(boost::beast::http::verb method, std::string_view target);

/// Whether the row is a page.
bool is_page(boost::beast::http::verb method, std::string_view target);

/// Whether the row is guarded. Without a row: true for methods that change state, and below /api/.
bool is_guarded(boost::beast::http::verb method, std::string_view target);

/// 405 with Allow for a known path, else 404. Both pages list routes.
AdminResponse no_route(const AdminRequest& request);

}  // namespace proxy
