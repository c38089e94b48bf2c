#pragma once

#include <string>
#include <vector>

#include "app/admin_port.hpp"

namespace app {

// The sub-commands that send a request to a running node. Each returns the exit code and reports
// errors on standard error.

/// `hearsay status`: prints each node, then the sums over several. Returns kFailed if a node is
/// silent.
int status_command(const std::vector<NodeChoice>&, bool json);
int healthcheck_command(const NodeChoice&);
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

/// `hearsay report`: prints the requests and bytes that the cache and its peers spared the origins
/// in the last `since`, of each node and of all together. `since`: a duration such as `24h`, at
/// most 7 days. Returns kFailed if a node is silent.
int report_command(const std::vector<NodeChoice>&, const std::string& since, bool json);

/// `hearsay explain`: prints which nodes store `url`, which summaries claim it, and which peers a
/// miss would ask. `json` prints the node's answer unchanged.
int explain_command(const NodeChoice&, const std::string& url, bool json);

}  // namespace app
