#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "measure/run/node_addresses.hpp"

namespace app {

/// Options of `hearsay init`.
struct InitCommand {
    std::vector<std::string> nodes;  // [NAME=]HOST[:PORT] each
    std::string folder = ".";
    std::string memory = "256MiB";  // of each cache
    std::string origin;             // URL of the origin for all requests; empty: forward proxies
};

/// A node of a planned cluster, and its three ports: port, port + 1 and, on loopback, admin.
struct PlannedNode {
    std::string name;
    base::HostPort http, link, admin;
};

/// Names the unnamed nodes a, b, ... and gives nodes on one host different ports. Throws
/// std::invalid_argument for a malformed address, a duplicate name, or two nodes at one place.
std::vector<PlannedNode> plan_nodes(const std::vector<std::string>& nodes);

/// Returns the configuration of one node, as JSON that ends in a newline.
std::string configuration_of(const PlannedNode& node, const std::vector<PlannedNode>& all,
                             const InitCommand& command);

/// `hearsay init`: writes NAME.json for each node, and `environment` with a new cluster key,
/// readable by its owner alone. Existing files stay. Returns the exit code.
int init_command(const InitCommand& command);
Command add_init(CLI::App& app);

}  // namespace app
