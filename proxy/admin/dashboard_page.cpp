#include "proxy/admin/dashboard_page.hpp"

#include <algorithm>
#include <string>

#include "proxy/admin/dashboard_files.hpp"

namespace proxy {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view kPageFile = "index.html";
/// Scripts and styles of this port alone, no frames and no forms.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view file_name_of(std::string_view target) {
    const auto path = target.substr(0, target.find('?'));
    return path == "/" ? kPageFile : path.substr(std::min(kDashboardFolder.size(), path.size()));
}

const DashboardFile* find_file(std::string_view name) {
    for (const auto& file : dashboard_files())
        if (file.name == name) return &file;
    return nullptr;
}

std::string_view type_of_file(std::string_view name) {
    if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
    if (name.ends_with(".css")) return "text/css; charset=utf-8";
    return "text/html; charset=utf-8";
}

/// A list of tags, or `*` (RFC 9110 §13.1.2). The tags of files contain no comma.
bool names_tag(std::string_view if_none_match, std::string_view etag) {
    return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

}  // namespace

boost::asio::awaitable<AdminResponse> show_dashboard(const AdminRequest& request, NodeControl&) {
    const auto target = request.target();
    const auto* file = find_file(file_name_of({target.data(), target.size()}));
    if (file == nullptr)
        co_return admin_text(request, http::status::not_found, "The dashboard has no such file.\n");
    const auto known = request[http::field::if_none_match];
    const auto is_known = names_tag({known.data(), known.size()}, file->etag);
    auto response =
        admin_response(request, is_known ? http::status::not_modified : http::status::ok,
                       type_of_file(file->name), std::string(is_known ? "" : file->content));
    response.set(http::field::etag, {file->etag.data(), file->etag.size()});
    response.set(http::field::cache_control, "no-cache");
    response.set("Content-Security-Policy", kPolicy);
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    co_return response;
}

}  // namespace proxy
