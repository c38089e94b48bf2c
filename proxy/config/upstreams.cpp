#include "proxy/config/upstreams.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "base/net/plain_address.hpp"
#include "proxy/http/same_host.hpp"

namespace proxy {

std::uint32_t mark_of_server(std::string_view place) {  // FNV-1a
    std::uint32_t hash = 2166136261u;
    for (const char c : place) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash == 0 ? 1 : hash;
}

bool HealthCheck::expects(unsigned status) const {
    return std::ranges::any_of(expect, [status](const auto& range) {
        return range.first <= status && status <= range.second;
    });
}

bool NoProxy::contains(std::string_view host) const {
    boost::system::error_code is_name;
    const auto address = boost::asio::ip::make_address(std::string(host), is_name);
    if (!is_name) return prefixes.contains(base::plain_address(address));
    std::string scratch;
    const auto name = canonical_host(host, scratch);
    return std::ranges::any_of(hosts, [name](const Glob& glob) { return glob.matches(name); });
}

}  // namespace proxy
