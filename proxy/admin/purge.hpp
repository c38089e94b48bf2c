#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/http/rule.hpp"
#include "proxy/storage/node_events.hpp"

namespace proxy {

/// URLs, tags, rules and prefixes of one order together.
inline constexpr std::size_t kMaxPurged = 1024;
inline constexpr std::size_t kMaxPurgeTagBytes = 1024;  // of one tag

/// A purge in the whole cluster, as an operator orders it.
struct PurgeOrder {
    std::vector<std::string> uris;      // as CacheKey has them, with all variants
    std::vector<std::string> tags;      // of Surrogate-Key
    std::vector<std::string> rules;     // names of entries of `rules`
    bool soft = false;                  // responses in memory become stale in place of ending
    std::vector<std::string> prefixes;  // of URIs; each ends with a slash of the path
};

/// The result of an order.
struct PurgeResult {
    std::string node;                    // that received the order
    std::uint64_t objects = 0;           // target URIs that were stored there
    std::vector<std::string> confirmed;  // peers that have dropped it
    std::vector<std::string> pending;    // connected peers that have yet to confirm, and this node
                                         // until its disk has written it
    std::vector<std::string> away;       // peers without a link; they drop it before their return

    bool everywhere() const { return pending.empty() && away.empty(); }
};

/// Reads the body of POST /api/v1/purge: an object with one or more of `url`, `urls`, `tags`,
/// `rules`, `prefixes`.
/// Returns a sentence for the user if it is wrong.
std::variant<PurgeOrder, std::string> parse_purge(std::string_view json);

/// A sentence for the user if the order names a rule that `rules` lacks: a slip would purge
/// nothing, and look like success. Empty: all rules are there.
std::string unknown_rule(const PurgeOrder& order, const std::vector<Rule>& rules);

PurgeAnswer answer_to_purge(const PurgeResult& report);

}  // namespace proxy
