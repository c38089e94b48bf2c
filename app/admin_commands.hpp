#pragma once

#include <string>
#include <vector>

namespace app {

// The sub-commands that ask a running node. Each returns the exit code and prints what went wrong
// on standard error.

/// Which node's admin port to ask: `url` when given, else the one of `config`, else the default
/// one.
struct NodeChoice {
    std::string url, config;
};

/// Of several nodes each, and what they did together. Fails when one does not answer.
int status_command(const std::vector<NodeChoice>&, bool json);
int healthcheck_command(const NodeChoice&);
/// Ends what is stored under these URLs, or with these tags, in the whole cluster. Fails when a
/// node that is there has not confirmed it yet. `json`: as the node says it.
int purge_command(const NodeChoice&, const std::vector<std::string>& urls,
                  const std::vector<std::string>& tags, bool json);
/// kFailed when the node refuses the file; then it goes on as before.
int reload_command(const NodeChoice&, bool json);
int drain_command(const NodeChoice&);
int reopen_logs_command(const NodeChoice&);

/// Where `url` is, what the summaries say of it, and whom a miss would ask. `json`: as the node
/// gives it.
int explain_command(const NodeChoice&, const std::string& url, bool json);

}  // namespace app
