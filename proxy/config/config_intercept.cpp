// The settings of `forward.intercept` with a grammar of their own; see special_settings.hpp.
#include <boost/asio/ip/address.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "proxy/config/config_destinations.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/config/special_settings.hpp"

namespace proxy::settings {
namespace {

bool is_address_text(std::string_view text) {
    boost::system::error_code is_name;
    boost::asio::ip::make_address(std::string(text), is_name);
    return !is_name || text.starts_with('[');
}

}  // namespace

void read_intercepted_hosts(ConfigContext& context, ConfigSection& in, Config& out) {
    constexpr auto kKey = "hosts";
    in.require(kKey);
    auto& hosts = out.forward.intercept->hosts;
    hosts.clear();
    read_patterns(context, in, kKey, hosts);
    if (in.failed(kKey)) return;
    if (hosts.empty()) in.fail(kKey, "must name a host");
    for (const auto& each : hosts) {
        if (each.port != 0)
            in.fail(kKey,
                    "\"" + each.text + "\" has a port: forward.intercept.ports has the ports");
        else if (is_address_text(each.text))
            in.fail(kKey, "\"" + each.text + "\" is an address, and only names are intercepted");
    }
}

void read_intercepted_ports(ConfigContext& context, ConfigSection& in, Config& out) {
    constexpr auto kKey = "ports";
    constexpr std::uint64_t kMostPort = 65535;
    auto& ports = out.forward.intercept->ports;
    if (in.has(kKey)) ports.clear();
    for (const auto& [value, path] : in.elements(kKey)) {
        const auto fits = value->is_number_unsigned() && value->get<std::uint64_t>() > 0 &&
                          value->get<std::uint64_t>() <= kMostPort;
        if (fits)
            ports.push_back(value->get<std::uint16_t>());
        else
            context.fail(path, "must be a port from 1 to 65535");
    }
    if (ports.empty() && !in.failed(kKey)) in.fail(kKey, "must name a port");
}

ordered_json show_intercepted_hosts(const Config& config) {
    return texts_of_patterns(config.forward.intercept->hosts);
}

ordered_json show_intercepted_ports(const Config& config) {
    return config.forward.intercept->ports;
}

}  // namespace proxy::settings
