#pragma once

#include <string>
#include <vector>

#include "app/admin_port.hpp"
#include "app/command.hpp"

namespace app {

// The sub-commands that ask a running node. Each returns the exit code, which is kFailed if a node
// does not answer, and reports errors on standard error.

/// `hearsay status`: prints each node, then the sums over several.
int status_command(const std::vector<NodeChoice>&, bool json);
int healthcheck_command(const NodeChoice&);

/// `hearsay report`: prints what the cache and its peers spared the origins in the last `since`, of
/// each node and of all together. `since`: a duration such as `24h`, at most 7 days.
int report_command(const std::vector<NodeChoice>&, const std::string& since, bool json);

/// `hearsay explain`: prints which nodes store `url`, which summaries claim it, and which peers a
/// miss would ask. `json` prints the node's answer unchanged.
int explain_command(const NodeChoice&, const std::string& url, bool json);

Command add_status(CLI::App& app);
Command add_healthcheck(CLI::App& app);
Command add_report(CLI::App& app);
Command add_explain(CLI::App& app);

}  // namespace app
