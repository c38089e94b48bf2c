#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

namespace protocol {

// A subscriber reports in its heartbeats why its own link to the publisher fails, since the
// publisher cannot see the reason (FORMAT.md, Announcements). The number stands in `objects`, where
// nodes that lack these numbers look for kListensElsewhere alone.

inline constexpr std::uint64_t kLeastDialReport = 2;
inline constexpr std::uint64_t kMostDialReport = 255;
/// This node has sent a goodbye, and makes no links.
inline constexpr std::uint64_t kHasLeftReport = 9;

/// The number for the reason why the link could not be made; 0 without an error.
std::uint64_t dial_report(const boost::system::error_code& error);

/// The short name of the reason; empty for a number that is no report.
std::string reason_in(std::uint64_t report);

}  // namespace protocol
