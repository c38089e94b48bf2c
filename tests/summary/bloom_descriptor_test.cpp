#include "summary/coding/bloom_descriptor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/summary/bloom.hpp"

namespace summary {
namespace bloom_descriptor_test {

Bytes bytes_of(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const auto value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

// summary/FORMAT.md
TEST(BloomDescriptor, SaysBitsAndHashes) {
    const auto of = descriptor_of(Shape{128, 4});
    EXPECT_TRUE(std::ranges::equal(of.bytes(), bytes_of({4, 0, 0, 0, 0, 0, 0, 0, 128, 4})));
    EXPECT_EQ(shape_of(of), (Shape{128, 4}));
    const Shape large{kMaxBits, kMaxHashes};
    EXPECT_EQ(shape_of(descriptor_of(large)), large);
}

TEST(BloomDescriptor, OfAnotherKindHasNoShape) {
    EXPECT_EQ(shape_of(Descriptor()), std::nullopt);
    EXPECT_EQ(shape_of(*Descriptor::from(bytes_of({2, 0, 0, 0, 0, 0, 0, 0, 128, 4}))),
              std::nullopt);
}

TEST(BloomDescriptor, CostsABitEach) {
    EXPECT_EQ(replica_bytes(Shape{8000, 4}), 1000U);
    EXPECT_EQ(replica_bytes(Shape{8001, 4}), 1001U);
}

}  // namespace bloom_descriptor_test
}  // namespace summary
