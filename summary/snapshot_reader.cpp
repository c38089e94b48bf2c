#include "summary/snapshot_reader.hpp"

#include <utility>

#include "summary/bloom_descriptor.hpp"

namespace summary {

std::optional<Filter> SnapshotReader::Bloom::finish() {
    auto whole = bits.finish();
    if (!whole) return std::nullopt;
    return BloomFilter(shape, std::move(*whole));
}

SnapshotReader::Reader SnapshotReader::reader_of(const Descriptor& of) {
    switch (of.kind()) {
        case Kind::counting_bloom:
            break;
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
