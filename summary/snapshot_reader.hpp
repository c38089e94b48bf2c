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

/// A snapshot's payload, piece by piece as it arrives: the work of a piece is bounded by its size,
/// and so is the memory that is taken for it. One thread only.
class SnapshotReader {
public:
    /// Precondition: judge() has accepted it.
    explicit SnapshotReader(const Descriptor& of);

    /// False when this is no snapshot of that sort: it is of no more use then.
    bool take(std::span<const std::byte> piece);
    /// When all pieces were taken: the filter, or nothing when something is missing or left over.
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
