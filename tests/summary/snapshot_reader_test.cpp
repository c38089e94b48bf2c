#include "summary/coding/snapshot_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/summary/bloom.hpp"

namespace summary {
namespace snapshot_reader_test {

constexpr Shape kShape{6400, 4};

Bytes snapshot_of(const BloomFilter& filter) {
    return test::payload_of(filter.bits());
}

/// In pieces of so many bytes.
std::optional<Filter> read(const Bytes& payload, std::size_t piece) {
    SnapshotReader reader(test::bloom(kShape));
    for (std::size_t at = 0; at < payload.size(); at += piece) {
        const auto size = std::min(piece, payload.size() - at);
        if (!reader.take(std::span(payload).subspan(at, size))) return std::nullopt;
    }
    return reader.finish();
}

TEST(SnapshotReader, MakesTheFilterOutOfPiecesOfAnySize) {
    for (const std::uint64_t keys : {0, 3, 400, 5000}) {  // the last as words
        const auto filter = test::filter_with(0, keys, kShape);
        const auto payload = snapshot_of(filter);
        for (const std::size_t piece : {1, 7, 100'000}) {
            const auto whole = read(payload, piece);
            ASSERT_TRUE(whole) << keys << ' ' << piece;
            EXPECT_EQ(descriptor_of(*whole), test::bloom(kShape));
            EXPECT_EQ(test::bits_of(*whole), filter.bits());
        }
    }
}

TEST(SnapshotReader, RefusesWhatIsCutContinuedOrNoSnapshot) {
    auto payload = snapshot_of(test::filter_with(0, 400, kShape));
    payload.push_back(std::byte{0});
    EXPECT_FALSE(read(payload, 10));
    payload.resize(payload.size() - 2);
    EXPECT_FALSE(read(payload, 10));
    EXPECT_FALSE(read({}, 10));
    EXPECT_FALSE(read(test::payload_of({{3}, {}}, kShape.bits), 10)) << "a delta";
}

}  // namespace snapshot_reader_test
}  // namespace summary
