#include "proxy/http/same_host.hpp"

#include <boost/asio/ip/address_v6.hpp>
#include <optional>

namespace proxy {
namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address_v6> literal(std::string_view host) {
    if (!host.starts_with('[') || !host.ends_with(']')) return std::nullopt;
    boost::system::error_code error;
    const auto address = ip::make_address_v6(host.substr(1, host.size() - 2), error);
    return error ? std::nullopt : std::optional(address);
}

std::string_view without_dot(std::string_view name) {
    if (name.ends_with('.')) name.remove_suffix(1);
    return name;
}

}  // namespace

std::string_view canonical_host(std::string_view host, std::string& scratch) {
    const auto address = literal(host);
    if (!address) return without_dot(host);
    scratch.assign("[").append(address->to_string()).append("]");
    return scratch;
}

bool same_host(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (!a.starts_with('[') || !b.starts_with('[')) return without_dot(a) == without_dot(b);
    const auto one = literal(a);
    return one && one == literal(b);
}

}  // namespace proxy
