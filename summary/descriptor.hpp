#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "summary/kind.hpp"

namespace summary {

inline constexpr std::size_t kMaxDescriptorBytes = 64;

/// What sort of summary somebody has, as it is said on a link: a byte for the kind, and what the
/// kind adds (its sizes). Only this layer reads it; others carry, compare and keep it. What comes
/// from outside is suspect until judge() has accepted it (judge.hpp). A value, never allocates.
class Descriptor {
public:
    Descriptor() = default;  // of nothing
    /// Nothing when there are no bytes, or more than kMaxDescriptorBytes.
    static std::optional<Descriptor> from(std::span<const std::byte> bytes);

    std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }
    /// Its first byte; may be none that this version knows.
    Kind kind() const { return static_cast<Kind>(bytes_.front()); }
    bool empty() const { return size_ == 0; }

    bool operator==(const Descriptor&) const = default;

private:
    std::array<std::byte, kMaxDescriptorBytes> bytes_{};  // 0 from size_ on
    std::size_t size_ = 0;
};

/// May it be kept here?
enum class DescriptorVerdict {
    accepted,
    unknown_kind,  // not known to this version
    malformed,     // not a descriptor, or not a payload, of its kind
    too_large,     // takes more memory than it may, or than what it is said to hold explains
};

}  // namespace summary
