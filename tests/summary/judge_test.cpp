#include "summary/coding/judge.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "summary/coding/coding.hpp"
#include "tests/summary/bloom.hpp"

namespace summary {
namespace judge_test {

using test::bloom;

constexpr std::uint64_t kMiB = 1 << 20;

Descriptor from(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const auto value : values) bytes.push_back(static_cast<std::byte>(value));
    return *Descriptor::from(bytes);
}

TEST(Judge, ADescriptorIsJudgedBeforeAnythingIsKeptForIt) {
    EXPECT_EQ(judge(bloom({8 * kMiB, 4}), kMiB), DescriptorVerdict::accepted);
    EXPECT_EQ(judge(bloom({8 * kMiB + 8, 4}), kMiB), DescriptorVerdict::too_large);
    EXPECT_EQ(judge(Descriptor(), kMiB), DescriptorVerdict::unknown_kind);
    EXPECT_EQ(judge(from({0}), kMiB), DescriptorVerdict::unknown_kind);
    EXPECT_EQ(judge(from({1, 0, 0, 0, 0, 0, 0, 0, 128, 4}), kMiB), DescriptorVerdict::unknown_kind);
}

TEST(Judge, ADescriptorThatIsNoneOfItsKindIsMalformed) {
    const std::vector<Descriptor> none{
        from({4}),                                  // nothing of the kind
        from({4, 0, 0, 0, 0, 0, 0, 0, 128}),        // no hashes
        from({4, 0, 0, 0, 0, 0, 0, 0, 128, 4, 0}),  // something left over
        from({4, 0, 0, 0, 0, 0, 0, 0, 0, 4}),       // no bits
        from({4, 0, 0, 0, 1, 0, 0, 0, 1, 4}),       // more than 2^32
        from({4, 0, 0, 0, 0, 0, 0, 0, 128, 0}),     // no functions
        from({4, 0, 0, 0, 0, 0, 0, 0, 128, 17}),    // too many
    };
    for (const auto& of : none) {
        EXPECT_EQ(judge(of, ~std::uint64_t{0}), DescriptorVerdict::malformed) << of.bytes().size();
        EXPECT_EQ(replica_bytes(of), std::nullopt);
        EXPECT_EQ(shape_of(of), std::nullopt);
    }
}

TEST(Judge, KnowsWhatAReplicaTakes) {
    EXPECT_EQ(replica_bytes(bloom({8000, 4})), 1000U);
    EXPECT_EQ(replica_bytes(bloom({1, 1})), 1U);
    EXPECT_EQ(replica_bytes(from({9})), std::nullopt);
}

TEST(Describe, DescribesEvenAnUnknownKind) {
    const auto known = describe(bloom({128, 4}));
    EXPECT_EQ(known.kind, "counting_bloom");
    EXPECT_EQ(known.bits, 128U);
    EXPECT_EQ(known.hashes, 4U);
    EXPECT_EQ(describe(from({9, 1, 2})).kind, "unknown");
    EXPECT_EQ(describe(Descriptor()).bits, 0U);
    EXPECT_EQ(describe(from({1, 2})).bits, 0U);
}

TEST(SnapshotHead, IsRefusedWhenTheSizeDoesNotFollowFromTheObjects) {
    const auto verdict = [](Shape shape, std::uint64_t objects, std::uint64_t payload_bytes) {
        return judge(SnapshotHead{bloom(shape), objects, payload_bytes}, std::uint64_t{1} << 29);
    };
    EXPECT_EQ(verdict({128, 4}, 2, 5), DescriptorVerdict::accepted);
    EXPECT_EQ(verdict({1024 * 512, 4}, 0, 2), DescriptorVerdict::accepted)
        << "as for 1,024 objects";
    EXPECT_EQ(verdict({1025 * 512, 4}, 0, 2), DescriptorVerdict::too_large);
    EXPECT_EQ(verdict({1 << 24, 4}, 1'000'000, 1'000'000 / 8 - 64), DescriptorVerdict::accepted);
    EXPECT_EQ(verdict({1 << 24, 4}, 1'000'000, 1'000'000 / 8 - 65), DescriptorVerdict::too_large);
    EXPECT_EQ(verdict({1 << 20, 4}, 1'000'000, (1 << 20) / 16 - 64), DescriptorVerdict::accepted)
        << "a bit for every other one of the filter";
    EXPECT_EQ(verdict({128, 4}, 2, max_snapshot_bytes(128)), DescriptorVerdict::accepted);
    EXPECT_EQ(verdict({128, 4}, 2, max_snapshot_bytes(128) + 1), DescriptorVerdict::malformed);
    EXPECT_EQ(judge(SnapshotHead{from({7}), 1, 1}, 1000), DescriptorVerdict::unknown_kind);
    EXPECT_EQ(judge(SnapshotHead{bloom({8008, 4}), 100, 100}, 1000), DescriptorVerdict::too_large);
}

}  // namespace judge_test
}  // namespace summary
