#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proxy/admin/node_control.hpp"

namespace proxy {

using AdminRequest = boost::beast::http::request<boost::beast::http::string_body>;
using AdminResponse = boost::beast::http::response<boost::beast::http::string_body>;

enum class AdminMethod : std::uint8_t {
    get,   // HEAD too
    post,  // changes the node
};
enum class Guard : std::uint8_t {
    open,     // to every client of the port, or as admin.token_for says
    guarded,  // admission.hpp
};

/// One row of the table: a method and a path of the admin port.
struct AdminRoute {
    AdminMethod method;
    std::string_view path;
    Guard guard;
    std::string_view does;  // a predicate for 404 and 405 pages, as "drains this node"
    /// The request and the node outlive the coroutine.
    boost::asio::awaitable<AdminResponse> (*handler)(const AdminRequest&, NodeControl&);
};

/// The whole table. Rows of one path stand together.
std::span<const AdminRoute> admin_routes();

/// The row of a request, or null. `target`: as in the request, or without its query.
const AdminRoute* find_route(boost::beast::http::verb method, std::string_view target);

/// The guard of the row. Without a row: true for methods that change state, and below /api/.
bool is_guarded(boost::beast::http::verb method, std::string_view target);

/// 405 with Allow for a known path, else 404. Both pages list routes.
AdminResponse no_route(const AdminRequest& request);

/// A response of the admin port, with Cache-Control: no-store.
AdminResponse admin_response(const AdminRequest& request, boost::beast::http::status status,
                             std::string_view type, std::string body);
AdminResponse admin_text(const AdminRequest& request, boost::beast::http::status status,
                         std::string body);

}  // namespace proxy
