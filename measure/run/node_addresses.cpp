#include "measure/run/node_addresses.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::tcp;

constexpr std::string_view kByName = "dns:", kScheme = "http://";

}  // namespace

HostPort parse_address(const std::string& text, std::uint16_t default_port) {
    std::string_view rest = text;
    if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
    const bool any_port = rest.ends_with(":0");
    if (any_port) rest.remove_suffix(2);
    // Unambiguous IPv6 addresses are accepted without brackets, which shells easily lose.
    boost::system::error_code no_address;
    boost::asio::ip::make_address_v6(std::string(rest), no_address);
    if (!no_address && default_port != 0 && !any_port) return {std::string(rest), default_port};
    auto address = proxy::parse_host_port(rest, any_port ? 1 : default_port);
    if (!address || rest.ends_with(':'))
        throw std::invalid_argument("'" + text +
                                    "' is no address: give http://HOST:PORT or HOST:PORT");
    if (any_port) address->port = 0;
    return *address;
}

std::vector<address> look_up(const std::string& host) {
    boost::asio::io_context context(1);
    tcp::resolver resolver(context);
    boost::system::error_code error;
    const auto found = resolver.resolve(host, "", error);
    if (error)
        throw std::runtime_error(fmt::format("cannot look up {}: {}", host, error.message()));
    std::vector<address> out;
    for (const auto& entry : found) out.push_back(entry.endpoint().address());
    return out;
}

std::vector<HostPort> NodeAddresses::expand(const std::vector<std::string>& texts,
                                            std::uint16_t default_port) {
    std::vector<HostPort> out;
    for (const auto& text : texts) {
        if (!text.starts_with(kByName)) {
            out.push_back(parse_address(text, default_port));
            continue;
        }
        const auto [name, port] = parse_address(text.substr(kByName.size()), default_port);
        for (const auto& host : hosts_of(name)) out.push_back({host, port});
    }
    return out;
}

const std::vector<std::string>& NodeAddresses::hosts_of(const std::string& name) {
    for (const auto& [host, addresses] : known_) {
        if (host == name) return addresses;
    }
    std::set<address> v4, v6;  // a resolver may name one twice
    for (const auto& found : lookup_(name)) (found.is_v4() ? v4 : v6).insert(found);
    const auto& chosen = v6.size() > v4.size() ? v6 : v4;
    std::vector<std::string> hosts;
    for (const auto& each : chosen) hosts.push_back(each.to_string());
    if (hosts.empty()) throw std::runtime_error(name + " has no address");
    return known_.emplace_back(name, std::move(hosts)).second;
}

}  // namespace measure
