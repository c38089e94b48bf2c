#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace measure {

// Faults that /api/v1/status names in its tables, one sentence without its full stop for each. The
// dashboard has the same ones (problems.js). A missing or mistyped member is no fault.

/// Servers of groups, and parent proxies, that are down. Groups without any server up come first.
std::vector<std::string> server_faults(const nlohmann::json& status);
/// Blocklists whose changed file is of no use.
std::vector<std::string> blocklist_faults(const nlohmann::json& status);
/// Certificates that have expired.
std::vector<std::string> certificate_faults(const nlohmann::json& status);

}  // namespace measure
