#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "protocol/net/host_port.hpp"

namespace measure {

using protocol::HostPort;

/// Takes `http://host:port`, `http://host:port/` or `host:port` apart; port 0 is any free one.
/// Throws std::invalid_argument that names the text when it is none of these. Without a port it is
/// `default_port`, of URLs usually 80; 0: the text must have one.
HostPort parse_address(const std::string& text, std::uint16_t default_port = 80);

/// All addresses a name stands for. Throws std::runtime_error when it stands for none.
using NameLookup = std::function<std::vector<boost::asio::ip::address>(const std::string& host)>;

/// By the system's resolver; blocks as long as that does.
std::vector<boost::asio::ip::address> look_up(const std::string& host);

/// Addresses as the command line gives them. `dns:HOST:PORT` stands for every address of HOST, in
/// their order as numbers, so that several lists name the nodes in one order. A host is looked up
/// once. Of a host with addresses of both families those of the larger one count, else IPv4's: a
/// node that has both is one node.
class NodeAddresses {
public:
    explicit NodeAddresses(NameLookup lookup = look_up) : lookup_(std::move(lookup)) {}

    /// Throws std::invalid_argument that names a text which is no address, std::runtime_error for
    /// a name without addresses.
    std::vector<HostPort> expand(const std::vector<std::string>& texts,
                                 std::uint16_t default_port = 80);

private:
    const std::vector<std::string>& hosts_of(const std::string& name);

    NameLookup lookup_;
    std::vector<std::pair<std::string, std::vector<std::string>>> known_;
};

}  // namespace measure
