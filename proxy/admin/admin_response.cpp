#include "proxy/admin/admin_response.hpp"

#include <utility>

namespace proxy {

namespace http = boost::beast::http;

AdminResponse admin_response(const AdminRequest& request, http::status status,
                             std::string_view type, std::string body) {
    AdminResponse response(status, request.version());
    response.set(http::field::content_type, boost::beast::string_view(type.data(), type.size()));
    response.set(http::field::cache_control, "no-store");
    response.keep_alive(request.keep_alive());
    response.body() = std::move(body);
    response.prepare_payload();
    return response;
}

AdminResponse admin_text(const AdminRequest& request, http::status status, std::string body) {
    return admin_response(request, status, "text/plain; charset=utf-8", std::move(body));
}

}  // namespace proxy
