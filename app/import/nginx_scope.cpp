#include "app/import/nginx_scope.hpp"

#include <algorithm>

namespace app {
namespace {

NginxScope::Block pointers_to(const std::vector<Directive>& directives) {
    NginxScope::Block out;
    for (const auto& each : directives) out.push_back(&each);
    return out;
}

bool is_name_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void add_locations(const NginxScope& scope, std::vector<NginxLocation>& out) {
    using Kind = NginxLocation::Kind;
    for (const auto* each : scope.innermost()) {
        if (each->name != "location") continue;
        NginxLocation location{Kind::prefix, std::string(each->word(0)), each, scope.inside(*each)};
        if (each->words.size() > 1) {
            const auto sign = each->word(0);
            location.text = each->word(1);
            location.kind = sign == "="    ? Kind::exact
                            : sign == "^~" ? Kind::strong_prefix
                            : sign == "~*" ? Kind::regex_any_case
                                           : Kind::regex;
        } else if (location.text.starts_with('@')) {
            location.kind = Kind::named;
        }
        const auto inner = location.scope;
        out.push_back(std::move(location));
        add_locations(inner, out);
    }
}

}  // namespace

NginxScope NginxScope::inside(const Directive& block) const {
    auto out = *this;
    out.levels_.push_back(pointers_to(block.block));
    return out;
}

NginxScope::Block NginxScope::nearest_of(const std::vector<std::string_view>& names) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
        Block found;
        for (const auto* each : *level)
            if (std::find(names.begin(), names.end(), each->name) != names.end())
                found.push_back(each);
        if (!found.empty()) return found;
    }
    return {};
}

NginxScope::Block NginxScope::nearest(std::string_view name) const {
    return nearest_of({name});
}

std::string_view NginxScope::word(std::string_view name) const {
    const auto found = nearest(name);
    return found.empty() ? std::string_view() : found.back()->word(0);
}

std::string NginxScope::replaced(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
        const auto dollar = text.find('$');
        out.append(text.substr(0, dollar));
        if (dollar == std::string_view::npos) break;
        text.remove_prefix(dollar + 1);
        const bool braced = text.starts_with('{');
        if (braced) text.remove_prefix(1);
        std::size_t size = 0;
        while (size < text.size() && is_name_byte(text[size])) ++size;
        const auto name = text.substr(0, size);
        text.remove_prefix(size);
        if (braced && text.starts_with('}')) text.remove_prefix(1);
        const Directive* value = nullptr;
        for (auto level = levels_.rbegin(); level != levels_.rend() && !value; ++level)
            for (const auto* each : *level)
                if (each->name == "set" && each->word(0).substr(0, 1) == "$" &&
                    each->word(0).substr(1) == name)
                    value = each;
        if (value && value->word(1).find('$') == std::string_view::npos)
            out.append(value->word(1));
        else
            out.append("$").append(name);
    }
    return out;
}

std::vector<NginxLocation> locations_of(const NginxScope& server) {
    std::vector<NginxLocation> out;
    add_locations(server, out);
    return out;
}

NginxAccess access_of(const NginxScope& scope) {
    NginxAccess out;
    Networks allowed;
    for (const auto* line : scope.nearest_of({"allow", "deny"})) {
        const auto networks = parse_networks(line->word(0));
        const bool allows = line->name == "allow";
        if (!networks) {
            if (line->word(0) != "unix:") out.is_exact = false;
        } else if (line->word(0) == "all") {
            if (!allows) {
                out.refuses_all = allowed.empty();
                out.allowed = std::move(allowed);
            }
            return out;
        } else if (allows) {
            // Denials win in hearsay, so an address that is denied before stays denied, and one
            // that is denied later is lost.
            allowed.insert(allowed.end(), networks->begin(), networks->end());
        } else {
            out.denied.insert(out.denied.end(), networks->begin(), networks->end());
            if (!intersection(allowed, *networks).empty()) out.is_exact = false;
        }
    }
    return out;
}

std::optional<NginxTarget> target_of(const NginxScope& scope) {
    const auto& level = scope.innermost();
    const auto found = std::find_if(level.begin(), level.end(), [](const Directive* each) {
        return each->name == "proxy_pass";
    });
    if (found == level.end()) return std::nullopt;
    const auto url = scope.replaced((*found)->word(0));
    NginxTarget out;
    std::string_view rest = url;
    if (rest.starts_with("https://"))
        out.tls = true;
    else if (!rest.starts_with("http://"))
        return std::nullopt;
    rest.remove_prefix(out.tls ? 8 : 7);
    const auto slash = rest.find('/');
    out.server = rest.substr(0, slash);
    auto path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
    // Behind a variable the whole target is the request's own.
    if (path == "$request_uri" || path == "$uri$is_args$args") path = {};
    if (const auto dollar = out.server.find("$request_uri"); dollar != std::string::npos)
        out.server.resize(dollar);
    if (!path.empty()) out.path = path;
    if (out.server.empty() || out.server.find('$') != std::string::npos ||
        out.server.starts_with("unix:") || path.find('$') != std::string_view::npos)
        return std::nullopt;
    return out;
}

}  // namespace app
