#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <variant>

#include "summary/coding/coding.hpp"
#include "summary/coding/descriptor.hpp"
#include "summary/coding/filter.hpp"
#include "summary/coding/fingerprint_coding.hpp"
#include "summary/sizing/shape.hpp"

namespace summary {

/// Reads a snapshot's payload piece by piece as it arrives. The size of a piece bounds its work and
/// its memory. One thread only.
class SnapshotReader {
public:
    /// Precondition: judge() has accepted the descriptor.
    explicit SnapshotReader(const Descriptor& of);

    /// Returns false when the payload is invalid for the descriptor; the reader is then useless.
    bool take(std::span<const std::byte> piece);
    /// Call it after the last piece. Returns the filter, or nullopt when bytes are missing or left
    /// over.
    std::optional<Filter> finish();

private:
    struct Bloom {
        Shape shape;
        SnapshotDecoder bits;
        bool take(std::span<const std::byte> piece) { return bits.take(piece); }
        std::optional<Filter> finish();
    };
    template <class Decoder>
    struct Fingerprints {
        Decoder decoder;
        bool take(std::span<const std::byte> piece) { return decoder.take(piece); }
        std::optional<Filter> finish();
    };
    using Reader = std::variant<Bloom, Fingerprints<QuotientSnapshotDecoder>,
                                Fingerprints<CuckooSnapshotDecoder>>;
    static Reader reader_of(const Descriptor& of);

    Reader reader_;
};

}  // namespace summary
