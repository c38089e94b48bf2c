#pragma once

#include <cstddef>
#include <vector>

#include "proxy/http/rule.hpp"

namespace proxy {

/// A rule that has no effect, because rules before it take its requests.
struct RuleShadow {
    std::size_t rule = 0;
    std::vector<std::size_t> by;  ///< in order; one alone, if it suffices
    /// It still gets requests of other methods than GET and HEAD, which its members mean nothing
    /// to: all of them are about stored responses.
    bool gets_others = false;
    bool operator==(const RuleShadow&) const = default;
};

/// Finds the rules that have no effect. Each one found provably has none, and a rule whose requests
/// several hosts, paths or methods of others share out is found as well. The time grows with the
/// square of the number of patterns. Pure.
std::vector<RuleShadow> shadowed_rules(const std::vector<Rule>& rules);

}  // namespace proxy
