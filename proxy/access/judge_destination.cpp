#include "proxy/access/judge_destination.hpp"

#include <algorithm>

#include "proxy/blocklists/normal_url.hpp"

namespace proxy {

std::string why_not_destination(const DestinationRules& rules, std::string_view host,
                                std::uint16_t port) {
    if (rules.empty()) return {};
    std::string buffer;
    const auto normal = normal_host(host, buffer);
    const auto inner = embedded_hosts(normal);
    const auto is_of = [port](const DestinationPattern& pattern, std::string_view address) {
        return (pattern.port == 0 || pattern.port == port) && pattern.host.matches(address);
    };
    const auto matches = [&](const auto& pattern) { return is_of(pattern, normal.text); };
    const auto denied = std::ranges::find_if(rules.deny, [&](const auto& pattern) {
        return matches(pattern) || std::ranges::any_of(inner, [&](const std::string& address) {
                   return is_of(pattern, address);
               });
    });
    if (denied != rules.deny.end()) return "deny: " + denied->text;
    if (rules.allow.empty() || std::ranges::any_of(rules.allow, matches)) return {};
    return "it is not in allow";
}

}  // namespace proxy
