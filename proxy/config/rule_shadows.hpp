#pragma once

#include <cstddef>
#include <vector>

#include "proxy/http/rule.hpp"

namespace proxy {

/// A rule that has no effect, because one before it takes its requests.
struct RuleShadow {
    std::size_t rule = 0, by = 0;
    /// It gets requests of other methods than GET and HEAD, to which its members mean nothing: all
    /// of them are about stored responses.
    bool gets_others = false;
    bool operator==(const RuleShadow&) const = default;
};

/// Finds such rules. Each one found provably has no effect; rules that only several others together
/// keep from their requests are not found. The time grows with the square of the number of
/// patterns. Pure.
std::vector<RuleShadow> shadowed_rules(const std::vector<Rule>& rules);

}  // namespace proxy
