#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// A pattern for a host, a path or a name: `*` stands for any bytes, also for none and for `/`. All
/// other bytes stand for themselves. Immutable; any thread. A match never backtracks, so it costs
/// at most the product of both lengths.
class Glob {
public:
    explicit Glob(std::string_view pattern);

    bool matches(std::string_view text) const;
    const std::string& text() const { return pattern_; }
    /// The pattern has no `*`.
    bool is_literal() const { return parts_.size() == 1; }
    /// The bytes before the first `*`.
    std::string_view prefix() const { return parts_.front(); }

private:
    std::string pattern_;
    std::vector<std::string> parts_;  // between the stars; never empty
};

}  // namespace proxy
