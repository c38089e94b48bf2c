#pragma once

#include <string>
#include <utility>
#include <vector>

#include "measure/run/node_addresses.hpp"

namespace app {

struct InitCommand {
    std::vector<std::string> nodes;  // [NAME=]HOST[:PORT] each
    std::string folder = ".";
    std::string memory = "256MiB";  // of each cache
    std::string origin;             // URL that all requests go to; empty: forward proxies
};

/// A node of a cluster to be, and its three ports: port, port + 1 and, on loopback, admin.
struct PlannedNode {
    std::string name;
    protocol::HostPort http, link, admin;
};

/// Names nodes a, b, ... that have none; moves ports of nodes on one host apart. Throws
/// std::invalid_argument for what is no address, a name twice, or two nodes at one place.
std::vector<PlannedNode> plan_nodes(const std::vector<std::string>& nodes);

/// The configuration of one of them, as JSON that ends in a newline.
std::string configuration_of(const PlannedNode& node, const std::vector<PlannedNode>& all,
                             const InitCommand& command);

/// `hearsay init`: writes NAME.json for each node, and `environment` with a new cluster key, which
/// only its owner can read. Overwrites nothing. Returns the exit code.
int init_command(const InitCommand& command);

}  // namespace app
