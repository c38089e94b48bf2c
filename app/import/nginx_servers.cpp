#include "app/import/nginx_servers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/http/field_list.hpp"

namespace app {
namespace {

/// `0.0.0.0:80` for every spelling of port 80 at all addresses. Empty: not a port of TCP.
std::string normal_listen(std::string_view word) {
    if (word.starts_with("unix:")) return {};
    const auto is_port = [](std::string_view text) {
        return !text.empty() && text.size() < 6 &&
               text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (is_port(word)) return "0.0.0.0:" + std::string(word);
    const auto colon = word.rfind(':');
    const bool has_port =
        colon != std::string_view::npos && is_port(word.substr(colon + 1)) && !word.ends_with(']');
    const auto host = has_port ? word.substr(0, colon) : word;
    const auto port = has_port ? word.substr(colon + 1) : std::string_view("80");
    if (host == "*" || host == "[::]" || host == "0.0.0.0") return "0.0.0.0:" + std::string(port);
    return std::string(host) + ":" + std::string(port);
}

void read_listen(NginxSite& site, const Directive& line, ImportDraft& draft) {
    const auto where = normal_listen(line.word(0));
    bool tls = false;
    for (const auto& word : line.words) {
        tls = tls || word.text == "ssl" || word.text == "quic";
        site.is_default = site.is_default || word.text.starts_with("default");
        site.proxy_protocol = site.proxy_protocol || word.text == "proxy_protocol";
        if (word.text == "quic") return draft.leave_out(line, "the node speaks no HTTP/3");
    }
    if (where.empty()) return draft.leave_out(line, "the node listens at TCP alone");
    if (site.scope.word("ssl") == "on") tls = true;
    auto& list = tls ? site.tls : site.plain;
    if (std::find(list.begin(), list.end(), where) == list.end()) list.push_back(where);
}

void read_server_name(NginxSite& site, const Directive& line, const std::string& text,
                      ImportDraft& draft) {
    std::string name;
    proxy::append_lower(name, text);
    if (name == "_" || name.empty()) {
        site.is_default = true;
    } else if (name.starts_with('.')) {
        site.exact.push_back(name.substr(1));
        site.wildcard.push_back("*" + name);
    } else if (name.starts_with("*.")) {
        site.wildcard.push_back(name);
    } else if (name.starts_with('~') || name.find('*') != std::string::npos ||
               name.find('$') != std::string::npos) {
        draft.leave_out(line, "origins[].host is a name or *.name");
    } else {
        site.exact.push_back(name);
    }
}

bool block_refuses(const std::vector<Directive>& block) {
    return std::any_of(block.begin(), block.end(), [](const Directive& each) {
        return (each.name == "return" && each.word(0).starts_with('4')) || each.name == "deny";
    });
}

}  // namespace

bool has_name(const NginxScope::Block& level, std::string_view name) {
    return std::any_of(level.begin(), level.end(),
                       [&](const Directive* each) { return each->name == name; });
}

NginxSite read_nginx_site(const Directive& server, const NginxScope& outermost,
                          ImportDraft& draft) {
    NginxSite site{&server, outermost.inside(server), {}, {}, {}, {}, {}, false, false, {}};
    site.locations = locations_of(site.scope);
    for (const auto* each : site.scope.innermost()) {
        if (each->name == "listen") read_listen(site, *each, draft);
        if (each->name == "server_name")
            for (const auto& word : each->words) read_server_name(site, *each, word.text, draft);
    }
    if (site.plain.empty() && site.tls.empty()) site.plain.emplace_back("0.0.0.0:80");
    if (site.exact.empty() && site.wildcard.empty()) site.is_default = true;
    for (std::size_t i = 0; i < site.locations.size(); ++i)
        if (has_name(site.locations[i].scope.innermost(), "proxy_pass") &&
            site.locations[i].kind != NginxLocation::Kind::named)
            site.proxied.push_back(i);
    return site;
}

std::string nginx_refusal(const NginxScope::Block& level) {
    constexpr std::array<std::string_view, 8> kChecks{
        "auth_request",        "auth_jwt",           "secure_link", "limit_except",
        "access_by_lua_block", "access_by_lua_file", "js_access",   "modsecurity"};
    for (const auto* each : level) {
        const auto off = each->word(0) == "off";
        if (each->name == "auth_basic" && !off) return "sites in origins cannot ask for a password";
        if (each->name == "ssl_verify_client" && !off) return "clients show no certificate";
        if (each->name == "valid_referers") return "hearsay has no rule by Referer";
        if (!off && std::find(kChecks.begin(), kChecks.end(), each->name) != kChecks.end())
            return "hearsay has no " + each->name;
        if (each->name == "if" && block_refuses(each->block)) return "hearsay has no conditions";
    }
    return {};
}

bool is_own_page(const NginxLocation& location) {
    const auto& level = location.scope.innermost();
    if (has_name(level, "stub_status") || has_name(level, "vhost_traffic_status_display"))
        return true;
    if (location.kind != NginxLocation::Kind::exact || has_name(level, "proxy_pass")) return false;
    const auto pages = location.scope.nearest("error_page");
    return std::any_of(pages.begin(), pages.end(), [&](const Directive* page) {
        return !page->words.empty() && page->words.back().text == location.text;
    });
}

}  // namespace app
