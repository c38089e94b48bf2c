#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>
#include <vector>

#include "measure/run/http_get.hpp"

namespace measure {

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
    std::vector<Address> expand(const std::vector<std::string>& texts);

private:
    const std::vector<std::string>& hosts_of(const std::string& name);

    NameLookup lookup_;
    std::vector<std::pair<std::string, std::vector<std::string>>> known_;
};

}  // namespace measure
