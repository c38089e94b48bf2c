#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "summary/coding/descriptor.hpp"

/// Verdicts on received descriptors, given before the node keeps anything for them.
namespace summary {

/// Memory of a replica in bytes. Returns nullopt for an unknown kind or a malformed descriptor.
std::optional<std::uint64_t> replica_bytes(const Descriptor& of);
DescriptorVerdict judge(const Descriptor& of, std::uint64_t max_bytes);

/// The head of a snapshot, which arrives before its payload.
struct SnapshotHead {
    Descriptor of;
    std::uint64_t objects = 0;
    std::uint64_t payload_bytes = 0;
};
/// The same, and the payload's size must follow from the number of objects: a sender that makes
/// this node take memory has to send bytes for it.
DescriptorVerdict judge(const SnapshotHead& head, std::uint64_t max_bytes);

/// For status pages and logs.
struct Description {
    std::string_view kind;
    std::uint64_t bits = 0;
    unsigned hashes = 0;
};
/// Returns zeros for an unknown kind.
Description describe(const Descriptor& of);

}  // namespace summary
