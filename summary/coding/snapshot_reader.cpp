#include "summary/coding/snapshot_reader.hpp"

#include <utility>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/fingerprint_descriptor.hpp"

namespace summary {

std::optional<Filter> SnapshotReader::Bloom::finish() {
    auto whole = bits.finish();
    if (!whole) return std::nullopt;
    return BloomFilter(shape, std::move(*whole));
}

template <class Decoder>
std::optional<Filter> SnapshotReader::Fingerprints<Decoder>::finish() {
    auto filter = decoder.finish();
    if (!filter) return std::nullopt;
    return Filter(std::move(*filter));
}

SnapshotReader::Reader SnapshotReader::reader_of(const Descriptor& of) {
    switch (of.kind()) {
        case Kind::counting_bloom:
            break;
        case Kind::quotient:
            return Fingerprints<QuotientSnapshotDecoder>{
                QuotientSnapshotDecoder(shape_from<QuotientShape>(of).value())};
        case Kind::cuckoo:
            return Fingerprints<CuckooSnapshotDecoder>{
                CuckooSnapshotDecoder(shape_from<CuckooShape>(of).value())};
    }
    const auto shape = shape_of(of).value();
    return Bloom{shape, SnapshotDecoder(shape.bits)};
}

SnapshotReader::SnapshotReader(const Descriptor& of) : reader_(reader_of(of)) {}

bool SnapshotReader::take(std::span<const std::byte> piece) {
    return std::visit([&](auto& kind) { return kind.take(piece); }, reader_);
}

std::optional<Filter> SnapshotReader::finish() {
    return std::visit([](auto& kind) { return kind.finish(); }, reader_);
}

}  // namespace summary
