#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "summary/key.hpp"

/// The kinds of summaries. What another one takes is in summary/FORMAT.md, "Kinds"; nothing above
/// this layer names one but the settings, which take it from its name.
namespace summary {

/// The first byte of a descriptor. (1 was a Bloom filter with other positions, which no node
/// makes.)
enum class Kind : std::uint8_t { counting_bloom = 4, quotient = 2, cuckoo = 3 };
inline constexpr std::array kKinds{Kind::counting_bloom, Kind::quotient, Kind::cuckoo};
inline constexpr Kind kDefaultKind = Kind::counting_bloom;

/// As settings and status pages call it.
std::string_view name(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

/// What an own summary of this kind is told of a key, so that the URI need not be kept on the way:
/// the cluster's hash of it. A kind that others outside the cluster read has a hash of its own.
/// Any thread; does not allocate.
KeyHash entry_of(Kind kind, const Key& key);

}  // namespace summary
