#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

namespace protocol {

// What a subscriber says in its heartbeats of the link that it would make itself, to publish to the
// node that publishes to it: that node alone does not see why nobody comes (FORMAT.md, What is
// announced). In `objects`, where nodes that do not know these numbers only look for
// kListensElsewhere.

inline constexpr std::uint64_t kLeastDialReport = 2;
inline constexpr std::uint64_t kMostDialReport = 255;
/// There is to be no link: it has said goodbye to its peers.
inline constexpr std::uint64_t kHasLeftReport = 9;

/// Why the link could not be made; 0: there is nothing to be told.
std::uint64_t dial_report(const boost::system::error_code& error);

/// The reason's short name; empty: this number is no report.
std::string reason_in(std::uint64_t report);

}  // namespace protocol
