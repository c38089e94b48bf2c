// The settings of `forward.intercept` with a grammar of their own; see special_settings.hpp.
#include <boost/asio/ip/address.hpp>
#include <string>

#include "proxy/config/config_destinations.hpp"
#include "proxy/config/special_settings.hpp"

namespace proxy::settings {
namespace {

bool is_address_text(std::string_view text) {
    boost::system::error_code is_name;
    boost::asio::ip::make_address(std::string(text), is_name);
    return !is_name || text.starts_with('[');
}

}  // namespace

void read_intercepted_hosts(ConfigSection& in, std::string_view key,
                            std::vector<DestinationPattern>& out) {
    in.require(key);
    out.clear();
    read_patterns(in, key, out);
    if (in.failed(key)) return;
    if (out.empty()) in.fail(key, "must name a host");
    for (const auto& each : out) {
        if (each.port != 0)
            in.fail(key, "\"" + each.text + "\" has a port: forward.intercept.ports has the ports");
        else if (is_address_text(each.text))
            in.fail(key, "\"" + each.text + "\" is an address, and only names are intercepted");
    }
}

void read_intercepted_ports(ConfigSection& in, std::string_view key,
                            std::vector<std::uint16_t>& out) {
    read_ports(in, key, out);
    if (out.empty() && !in.failed(key)) in.fail(key, "must name a port");
}

}  // namespace proxy::settings
