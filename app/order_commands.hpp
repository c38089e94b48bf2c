#pragma once

#include <string>
#include <vector>

#include "app/admin_port.hpp"
#include "app/command.hpp"

namespace app {

// The sub-commands that give an order to a running node. Each returns the exit code and reports
// errors on standard error.

/// The stored responses that a purge names.
struct PurgeNames {
    std::vector<std::string> urls, tags, rules;
    std::vector<std::string> prefixes = {};
    bool soft = false;
};
/// `hearsay purge`: invalidates these stored responses in the whole cluster.
/// Returns kFailed while a reachable node has yet to confirm. `json` prints the node's answer
/// unchanged.
int purge_command(const NodeChoice&, const PurgeNames& names, bool json);
/// `hearsay reload`: returns kFailed if the node refuses the file and keeps its configuration.
int reload_command(const NodeChoice&, bool json);
int drain_command(const NodeChoice&);
int reopen_logs_command(const NodeChoice&);

Command add_purge(CLI::App& app);
Command add_reload(CLI::App& app);
Command add_drain(CLI::App& app);
Command add_reopen_logs(CLI::App& app);

}  // namespace app
