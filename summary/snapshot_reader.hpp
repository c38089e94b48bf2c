#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <variant>

#include "summary/coding.hpp"
#include "summary/descriptor.hpp"
#include "summary/filter.hpp"
#include "summary/fingerprint_coding.hpp"
#include "summary/shape.hpp"

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
