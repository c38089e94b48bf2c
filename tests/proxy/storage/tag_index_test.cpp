#include "proxy/storage/tag_index.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/proxy/hash.hpp"

namespace proxy {
namespace tag_index_test {

using test::hash;

TEST(TagIndex, FindsEachKeyByEachOfItsTags) {
    TagIndex index;
    std::vector<summary::KeyHash> one, two;
    index.set(hash("one"), one, {hash("a"), hash("b"), hash("a")});
    index.set(hash("two"), two, {hash("b")});
    EXPECT_EQ(one.size(), 2u) << "each tag once";
    EXPECT_EQ(index.first(hash("a")), hash("one"));
    EXPECT_TRUE(index.first(hash("b")));
    EXPECT_FALSE(index.first(hash("c")));
}

TEST(TagIndex, PutsNewTagsInThePlaceOfOldOnes) {
    TagIndex index;
    std::vector<summary::KeyHash> tags;
    index.set(hash("one"), tags, {hash("a"), hash("b")});
    index.set(hash("one"), tags, {hash("b"), hash("c")});
    EXPECT_FALSE(index.first(hash("a")));
    EXPECT_EQ(index.first(hash("b")), hash("one"));
    EXPECT_EQ(index.first(hash("c")), hash("one"));
    index.set(hash("one"), tags, {});
    EXPECT_FALSE(index.first(hash("b")));
    EXPECT_TRUE(tags.empty());
}

}  // namespace tag_index_test
}  // namespace proxy
