#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "proxy/admin/admin_response.hpp"
#include "proxy/admin/node_control.hpp"

namespace proxy {

/// Paths of the dashboard: `/` is its page, and `/dashboard/NAME` every other file.
inline constexpr std::string_view kDashboardFolder = "/dashboard/";

/// The file at `/` or below kDashboardFolder, with an ETag and a strict Content-Security-Policy. A
/// 404 for an unknown name, and a 304 for a known ETag.
boost::asio::awaitable<AdminResponse> show_dashboard(const AdminRequest& request,
                                                     NodeControl& node);

}  // namespace proxy
