#include "proxy/disk/directory_purges.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace directory_purges_test {

constexpr summary::KeyHash kPrefix{7, 7};

/// The keys under http://a/ have the prefix kPrefix.
class PrefixOwner final : public DiskOwner {
public:
    summary::KeyHash hash_of(std::string_view uri) const override {
        ++hashed;
        return test::hash_of(uri);
    }
    bool is_prefix_tag(summary::KeyHash hash) const override { return hash == kPrefix; }
    std::vector<summary::KeyHash> prefix_tags_of(std::string_view uri) const override {
        ++asked;
        return uri.starts_with("http://a/") ? std::vector{kPrefix}
                                            : std::vector<summary::KeyHash>();
    }
    void recovered(std::span<const RecoveredKey> /*batch*/) override {}
    std::optional<unsigned> uses(const FooterEntry& /*entry*/, RecordLocation /*place*/) override {
        return std::nullopt;
    }
    void moved(const FooterEntry& /*entry*/, RecordLocation /*from*/,
               RecordLocation /*to*/) override {}
    void dropped(const FooterEntry& /*entry*/, RecordLocation /*place*/) override {}
    void lost(const LostRecords& /*places*/) override {}

    mutable int hashed = 0, asked = 0;
};

struct DirectoryPurgesTest : testing::Test {
    void end(summary::KeyHash hash, std::uint64_t seq) {
        purges.note(footer_entry(test::tombstone(RecordType::gone, seq, {hash}), 0, 0));
    }
    bool cover(std::string_view uri, std::uint64_t seq) const {
        return purges.cover(test::response(uri, seq, ""));
    }

    PrefixOwner owner;
    DirectoryPurges purges{owner};
};

TEST_F(DirectoryPurgesTest, HashOnlyRecordsFromBeforeTheLastTombstone) {
    end(test::hash_of("http://a/1"), 5);
    EXPECT_FALSE(cover("http://a/1", 6));
    EXPECT_EQ(owner.hashed, 0);
    EXPECT_TRUE(cover("http://a/1", 4));
    EXPECT_FALSE(cover("http://a/2", 4));
    EXPECT_EQ(owner.hashed, 2);
}

TEST_F(DirectoryPurgesTest, CoverKeysByTheirPrefixes) {
    end(test::hash_of("http://a/1"), 3);
    EXPECT_FALSE(cover("http://a/2", 2));
    EXPECT_EQ(owner.asked, 0) << "no tombstone is that of a prefix";
    end(kPrefix, 5);
    EXPECT_TRUE(cover("http://a/2", 4));
    EXPECT_FALSE(cover("http://b/2", 4));
    EXPECT_FALSE(cover("http://a/2", 6));
}

TEST_F(DirectoryPurgesTest, ConfirmEachPurgeOnce) {
    int confirmed = 0;
    purges.hold([&] { ++confirmed; });
    purges.hold([&] { ++confirmed; });
    EXPECT_EQ(confirmed, 0);
    purges.confirm();
    purges.confirm();
    EXPECT_EQ(confirmed, 2);
}

}  // namespace directory_purges_test
}  // namespace proxy
