#pragma once

#include <string>
#include <vector>

namespace measure {

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
/// Where `url` is, what the summaries say of it, and whom a miss would ask. `json`: as the node
/// gives it.
int explain_command(const NodeChoice&, const std::string& url, bool json);

}  // namespace measure
