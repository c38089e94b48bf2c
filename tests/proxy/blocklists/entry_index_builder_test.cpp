#include "proxy/blocklists/entry_index_builder.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace entry_index_builder_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kSmall = 1 << 10, kLarge = 1ull << 40;  // bytes of lists

class EntryIndexTest : public testing::Test {
protected:
    static summary::KeyHasher hasher() {
        std::array<std::byte, summary::KeyHasher::kSecretBytes> secret{};
        for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i * 37);
        return summary::KeyHasher(secret);
    }
    static std::string name(std::uint64_t number) {
        return "host" + std::to_string(number) + ".example";
    }
    std::unique_ptr<EntryIndex> finish(EntryIndexBuilder& builder) const {
        std::unique_ptr<EntryIndex> index;
        EXPECT_EQ(builder.finish(1, {}, index), "");
        return index;
    }
    /// `list:line kind` of each entry with this text.
    std::vector<std::string> found(const EntryIndex& index, std::string_view text) const {
        std::vector<std::string> out;
        const auto hash = hasher_(text).high;
        const auto error = index.each(hash, text, [&](const EntryRecord& entry) {
            out.push_back(std::to_string(entry.list) + ':' + std::to_string(entry.line) + ' ' +
                          std::to_string(static_cast<int>(entry.kind)));
        });
        EXPECT_FALSE(error) << error.message();
        EXPECT_TRUE(out.empty() || index.may_have(hash)) << text;
        return out;
    }

    const summary::KeyHasher hasher_ = hasher();
    const test::TemporaryDirectory folder_;
};

TEST_F(EntryIndexTest, FindsEveryEntryOfManyPartsByItsText) {
    for (const auto bytes : {kSmall, kLarge}) {
        EntryIndexBuilder builder(hasher_, folder_.path(), bytes);
        constexpr std::uint32_t kEntries = 30'000;
        for (std::uint32_t i = 0; i < kEntries; ++i)
            ASSERT_EQ(builder.add({name(i), EntryKind::host, 2}, 3, i), "");
        const auto index = finish(builder);
        ASSERT_TRUE(index);
        EXPECT_EQ(index->hashes(), kEntries);
        for (std::uint32_t i = 0; i < kEntries; ++i)
            ASSERT_THAT(found(*index, name(i)), ElementsAre("3:" + std::to_string(i) + " 1"));
        unsigned positives = 0;
        for (std::uint32_t i = kEntries; i < kEntries + 100'000; ++i) {
            positives += index->may_have(hasher_(name(i)).high) ? 1 : 0;
            ASSERT_THAT(found(*index, name(i)), IsEmpty());
        }
        const auto expected = 100'000 * EntryIndex::EntryFilter::kError;
        EXPECT_NEAR(positives, expected, 5 * std::sqrt(expected));
    }
}

TEST_F(EntryIndexTest, TakesLittleMemory) {
    EntryIndexBuilder builder(hasher_, folder_.path(), kSmall);
    constexpr std::uint32_t kEntries = 400'000;
    for (std::uint32_t i = 0; i < kEntries; ++i)
        ASSERT_EQ(builder.add({name(i), EntryKind::domain, 2}, 0, i), "");
    const auto index = finish(builder);
    ASSERT_TRUE(index);
    EXPECT_LE(static_cast<double>(index->memory_bytes()), 2.4 * kEntries);
    EXPECT_LE(index->file_bytes(), 40 * kEntries);
}

TEST_F(EntryIndexTest, KeepsTheFirstOfEqualEntries) {
    EntryIndexBuilder builder(hasher_, folder_.path(), kSmall);
    EXPECT_EQ(builder.add({"a.example", EntryKind::domain, 2}, 1, 10), "");
    // So many others that the builder has forgotten the first one.
    for (std::uint32_t i = 0; i < 50'000; ++i)
        EXPECT_EQ(builder.add({name(i), EntryKind::host, 2}, 0, i), "");
    EXPECT_EQ(builder.add({"a.example", EntryKind::domain, 2}, 0, 20), "");
    EXPECT_EQ(builder.add({"a.example", EntryKind::host, 2}, 2, 30), "");
    EXPECT_EQ(builder.add({"a.example", EntryKind::host, 2}, 2, 31), "");
    const auto index = finish(builder);
    ASSERT_TRUE(index);
    EXPECT_THAT(found(*index, "a.example"), ElementsAre("1:10 0", "2:30 1"));
    EXPECT_EQ(index->hashes(), 50'001u);
}

TEST_F(EntryIndexTest, MayBeEmpty) {
    EntryIndexBuilder builder(hasher_, folder_.path(), 0);
    const auto index = finish(builder);
    ASSERT_TRUE(index);
    EXPECT_EQ(index->hashes(), 0u);
    EXPECT_FALSE(index->may_have(hasher_("a").high));
    EXPECT_THAT(found(*index, "a"), IsEmpty());
    EXPECT_THAT(found(EntryIndex(), "a"), IsEmpty());
    EXPECT_FALSE(EntryIndex().may_have(1));
}

TEST_F(EntryIndexTest, SaysThatItsFolderCannotBeWritten) {
    EntryIndexBuilder builder(hasher_, "/nowhere", kSmall);
    std::string why;
    for (std::uint32_t i = 0; i < 20'000 && why.empty(); ++i)
        why = builder.add({name(i), EntryKind::host, 2}, 0, i);
    EXPECT_THAT(why, HasSubstr("cannot create a file in /nowhere: No such file"));
    std::unique_ptr<EntryIndex> index;
    EXPECT_THAT(builder.finish(1, {}, index), HasSubstr("/nowhere"));
    EXPECT_FALSE(index);
}

TEST_F(EntryIndexTest, StopsWhenAskedTo) {
    EntryIndexBuilder builder(hasher_, folder_.path(), kSmall);
    std::stop_source stop;
    stop.request_stop();
    std::unique_ptr<EntryIndex> index;
    EXPECT_EQ(builder.finish(1, stop.get_token(), index), "stopped");
    EXPECT_FALSE(index);
}

}  // namespace entry_index_builder_test
}  // namespace proxy
