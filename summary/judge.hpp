#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "summary/descriptor.hpp"

/// What a descriptor from outside says, and may be believed, before anything is kept for it.
namespace summary {

/// What a replica takes, in bytes; nothing for one of an unknown kind, or malformed.
std::optional<std::uint64_t> replica_bytes(const Descriptor& of);
DescriptorVerdict judge(const Descriptor& of, std::uint64_t max_bytes);

/// What a snapshot says of itself before it comes.
struct SnapshotHead {
    Descriptor of;
    std::uint64_t objects = 0;
    std::uint64_t payload_bytes = 0;
};
/// The same, and does its size follow from the objects? Whoever wants us to take memory has to send
/// bytes for it.
DescriptorVerdict judge(const SnapshotHead& head, std::uint64_t max_bytes);

/// For status pages and logs.
struct Description {
    std::string_view kind;
    std::uint64_t bits = 0;
    unsigned hashes = 0;
};
/// Zeros for what is not known here.
Description describe(const Descriptor& of);

}  // namespace summary
