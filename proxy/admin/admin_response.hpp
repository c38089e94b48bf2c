#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>
#include <string_view>

namespace proxy {

using AdminRequest = boost::beast::http::request<boost::beast::http::string_body>;
using AdminResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// A response of the admin port, with Cache-Control: no-store.
AdminResponse admin_response(const AdminRequest& request, boost::beast::http::status status,
                             std::string_view type, std::string body);
AdminResponse admin_text(const AdminRequest& request, boost::beast::http::status status,
                         std::string body);

}  // namespace proxy
