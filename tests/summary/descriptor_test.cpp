#include "summary/coding/descriptor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/summary/bloom.hpp"

namespace summary {
namespace descriptor_test {

using test::bloom;

Bytes bytes_of(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const auto value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

Descriptor from(std::initializer_list<unsigned> values) {
    return *Descriptor::from(bytes_of(values));
}

TEST(Descriptor, ComesBackAsItWasWhateverItSays) {
    for (const std::size_t size : {1, 2, 10, 63, 64}) {
        const Bytes bytes(size, std::byte{200});
        const auto of = Descriptor::from(bytes);
        ASSERT_TRUE(of);
        EXPECT_TRUE(std::ranges::equal(of->bytes(), bytes));
    }
}

TEST(Descriptor, HasAtLeastAByteAndABound) {
    EXPECT_FALSE(Descriptor::from({}));
    EXPECT_FALSE(Descriptor::from(Bytes(kMaxDescriptorBytes + 1)));
    EXPECT_TRUE(Descriptor().empty());
    EXPECT_FALSE(bloom({128, 4}).empty());
}

TEST(Descriptor, BeginsWithItsKind) {
    EXPECT_EQ(bloom({128, 4}).kind(), Kind::counting_bloom);
    EXPECT_EQ(from({200, 1}).kind(), static_cast<Kind>(200));
    EXPECT_EQ(Descriptor().kind(), Kind{});
}

TEST(Descriptor, IsComparedByItsBytes) {
    EXPECT_EQ(bloom({128, 4}), bloom({128, 4}));
    EXPECT_NE(bloom({128, 4}), bloom({128, 5}));
    EXPECT_NE(from({1}), from({1, 0})) << "zeros count";
    EXPECT_NE(Descriptor(), from({0}));
}

}  // namespace descriptor_test
}  // namespace summary
