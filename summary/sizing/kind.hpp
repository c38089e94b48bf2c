#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "summary/sizing/key.hpp"

/// The kinds of summaries; summary/FORMAT.md, "Kinds", lists what another kind needs. Above this
/// layer only the settings name a kind, by its name.
namespace summary {

/// The first byte of a descriptor. (1 was a Bloom filter with other positions; it is out of use.)
enum class Kind : std::uint8_t { counting_bloom = 4, quotient = 2, cuckoo = 3 };
inline constexpr std::array kKinds{Kind::counting_bloom, Kind::quotient, Kind::cuckoo};
inline constexpr Kind kDefaultKind = Kind::counting_bloom;

/// The name in settings and status pages.
std::string_view name(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

/// The entry that an own summary of this kind stores for a key: the cluster's hash. The caller can
/// then drop the URI. A kind that other programs read will have a hash of its own. Any thread;
/// never allocates.
KeyHash entry_of(Kind kind, const Key& key);

}  // namespace summary
