#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/import/draft.hpp"
#include "app/import/nginx_scope.hpp"

namespace app {

/// One server, read.
struct NginxSite {
    const Directive* directive = nullptr;
    NginxScope scope;
    std::vector<NginxLocation> locations;
    std::vector<std::string> plain, tls;  // listeners
    std::vector<std::string> exact, wildcard;
    bool is_default = false, proxy_protocol = false;
    std::vector<std::size_t> proxied;  // of locations
};

/// Reads the listeners and names of a `server`. Those without a setting are listed.
NginxSite read_nginx_site(const Directive& server, const NginxScope& outermost, ImportDraft& draft);

bool has_name(const NginxScope::Block& level, std::string_view name);

/// Why a block refuses requests in a way that no setting has. Empty: it does not.
std::string nginx_refusal(const NginxScope::Block& level);

/// True if the location is a page of nginx itself: its counters, or a page of errors.
bool is_own_page(const NginxLocation& location);

}  // namespace app
