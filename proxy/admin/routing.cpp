// The look-up in the table of routes.cpp.
#include <string>
#include <utility>

#include "proxy/admin/routes.hpp"

namespace proxy {
namespace {

namespace http = boost::beast::http;

std::string_view name(AdminMethod method) {
    return method == AdminMethod::get ? "GET" : "POST";
}

bool looks(http::verb method) {
    return method == http::verb::get || method == http::verb::head;
}

bool takes(const AdminRoute& route, http::verb method) {
    return route.method == AdminMethod::get ? looks(method) : method == http::verb::post;
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

bool covers(const AdminRoute& route, std::string_view path) {
    if (route.path == path) return true;
    return route.path.size() > 1 && route.path.ends_with('/') && path.starts_with(route.path);
}

}  // namespace

const AdminRoute* find_route(http::verb method, std::string_view target) {
    for (const auto& route : admin_routes())
        if (covers(route, path_of(target)) && takes(route, method)) return &route;
    return nullptr;
}

bool is_page(http::verb method, std::string_view target) {
    const auto* route = find_route(method, target);
    return route != nullptr && route->guard == Guard::page;
}

bool is_guarded(http::verb method, std::string_view target) {
    if (const auto* route = find_route(method, target)) return route->guard == Guard::guarded;
    return !looks(method) || target.starts_with("/api/");
}

AdminResponse no_route(const AdminRequest& request) {
    const auto target = request.target();
    const auto path = path_of({target.data(), target.size()});
    std::string allow, here, all;
    for (const auto& route : admin_routes()) {
        const std::string method(name(route.method));
        all += method + ' ' + std::string(route.path) + ' ' + std::string(route.does) + ".\n";
        if (!covers(route, path)) continue;
        allow += (allow.empty() ? "" : ", ") + method;
        if (route.method == AdminMethod::get) allow += ", HEAD";
        here += (here.empty() ? "" : ", ") + method + ' ' + std::string(route.does);
    }
    if (allow.empty()) return admin_text(request, http::status::not_found, std::move(all));
    auto refusal = admin_text(request, http::status::method_not_allowed, here + ".\n");
    refusal.set(http::field::allow, allow);
    return refusal;
}

}  // namespace proxy
