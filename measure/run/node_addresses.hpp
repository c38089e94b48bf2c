#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/net/host_port.hpp"

namespace measure {

using base::HostPort;

/// Parses `http://host:port`, `http://host:port/` or `host:port`. Port 0 is any free one. Throws
/// std::invalid_argument that names any other text. A missing port becomes `default_port`; with 0
/// the text must have one.
HostPort parse_address(const std::string& text, std::uint16_t default_port = 80);

/// Returns all addresses of a name. Throws std::runtime_error if it has none.
using NameLookup = std::function<std::vector<boost::asio::ip::address>(const std::string& host)>;

/// Uses the resolver of the system, and blocks as long as that does.
std::vector<boost::asio::ip::address> look_up(const std::string& host);

/// Expands addresses of the command line. `dns:HOST:PORT` stands for every address of HOST in
/// numeric order, so several lists name the nodes in one order. Each host is looked up once. If a
/// host has addresses of both families, the larger family counts, or IPv4 of equals: a node with
/// both is one node.
class NodeAddresses {
public:
    explicit NodeAddresses(NameLookup lookup = look_up) : lookup_(std::move(lookup)) {}

    /// Throws std::invalid_argument that names a malformed text, std::runtime_error for an
    /// unresolvable name.
    std::vector<HostPort> expand(const std::vector<std::string>& texts,
                                 std::uint16_t default_port = 80);

private:
    const std::vector<std::string>& hosts_of(const std::string& name);

    NameLookup lookup_;
    std::vector<std::pair<std::string, std::vector<std::string>>> known_;
};

}  // namespace measure
