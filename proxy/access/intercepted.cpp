#include "proxy/access/intercepted.hpp"

#include <algorithm>

#include "proxy/blocklists/normal_url.hpp"

namespace proxy {
namespace {

const DestinationPattern* match_listed(const ForwardConfig& forward, const NormalHost& host,
                                       std::uint16_t port) {
    const auto& intercept = forward.intercept;
    if (!forward.enabled || !intercept || host.is_address || !is_name(host.text)) return nullptr;
    const auto& ports = intercept->ports;
    if (std::ranges::find(ports, port) == ports.end()) return nullptr;
    const auto found = std::ranges::find_if(
        intercept->hosts, [&](const auto& each) { return each.host.matches(host.text); });
    return found == intercept->hosts.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> intercepted_name(const ForwardConfig& forward, std::string_view host,
                                            std::uint16_t port) {
    std::string buffer;
    const auto normal = normal_host(host, buffer);
    if (!match_listed(forward, normal, port)) return std::nullopt;
    return std::string(normal.text);
}

const DestinationPattern* intercepting_pattern(const ForwardConfig& forward, std::string_view host,
                                               std::uint16_t port) {
    std::string buffer;
    return match_listed(forward, normal_host(host, buffer), port);
}

}  // namespace proxy
