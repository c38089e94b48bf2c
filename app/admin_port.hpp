#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/net/host_port.hpp"
#include "measure/run/http_get.hpp"

namespace app {

// The admin port that a command asks, and the sentences about its answers. Any thread.

inline constexpr std::chrono::seconds kAdminTimeout{3};  // of one request

/// Selects the admin port: `url` if it is given, otherwise the port of `config`, otherwise the
/// default one.
struct NodeChoice {
    std::string url, config;
};

/// The address of an admin port, and its token or an empty string.
struct AdminPort {
    base::HostPort at;
    std::string token;
};

/// Returns the admin port to ask, or nullopt and the reason in `why`. The environment's token comes
/// before that of the configuration. Throws std::invalid_argument for a malformed address.
std::optional<AdminPort> admin_of(const NodeChoice&, std::string& why);

/// False for a page of another server. A node's admin port sends plain text and JSON to a command.
bool may_be_of_a_node(const measure::HttpAnswer&);
/// Reports the answer of another server on standard error, and returns the exit code.
int no_node(const std::string& where, const measure::HttpAnswer&);

/// The advice about a silent node; empty for an address that the user gave.
std::string address_hint(const NodeChoice&, std::string_view options);
/// The advice for a 401; empty for other statuses.
std::string token_hint(const measure::HttpAnswer&, const AdminPort&);
/// The node's reason in one line.
std::string first_line(const measure::HttpAnswer&);
/// The reason in the answer of a node that is still getting ready.
std::string why_not(const measure::HttpAnswer&);

}  // namespace app
