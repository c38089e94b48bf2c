#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "summary/sizing/kind.hpp"

namespace summary {

inline constexpr std::size_t kMaxDescriptorBytes = 64;

/// Kind and sizes of a summary, as a link carries them: one byte for the kind, then the fields of
/// that kind. Only this layer reads the bytes; other layers carry, compare and keep them. A
/// received descriptor is suspect until judge() has accepted it (judge.hpp). A value that never
/// allocates.
class Descriptor {
public:
    Descriptor() = default;  // an empty descriptor
    /// Returns nullopt for empty input, and for more than kMaxDescriptorBytes.
    static std::optional<Descriptor> from(std::span<const std::byte> bytes);

    std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }
    /// The first byte, which this version may be unable to interpret.
    Kind kind() const { return static_cast<Kind>(bytes_.front()); }
    bool empty() const { return size_ == 0; }

    bool operator==(const Descriptor&) const = default;

private:
    std::array<std::byte, kMaxDescriptorBytes> bytes_{};  // 0 from size_ on
    std::size_t size_ = 0;
};

/// The verdict on a received descriptor or snapshot.
enum class DescriptorVerdict {
    accepted,
    unknown_kind,  // a kind that this version lacks
    malformed,     // wrong fields, or a wrong payload, for its kind
    too_large,     // needs more memory than allowed, or than its number of objects explains
};

}  // namespace summary
