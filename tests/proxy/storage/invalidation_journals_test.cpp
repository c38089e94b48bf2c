#include "proxy/storage/invalidation_journals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <future>
#include <memory>

#include "proxy/disk/super_file.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace invalidation_journals_test {

using protocol::InvalidationBacklog;

constexpr std::uint64_t kMark = 7;
constexpr protocol::Instance kInstance{std::byte{1}};
const InvalidationBacklog kTwo{0, 2, {{1, {1, 2}}, {2, {3, 4}, true}}, {{"b", {1, kInstance}}}};

class InvalidationJournalsTest : public testing::Test {
protected:
    InvalidationJournalsTest() {
        for (const auto& each : directories_) std::filesystem::create_directory(each);
    }
    std::unique_ptr<InvalidationJournals> open() {
        return std::make_unique<InvalidationJournals>(calls_, directories_, kMark);
    }
    static bool settle(InvalidationJournals& journals) {
        std::promise<bool> written;
        journals.when_written([&](bool is) { written.set_value(is); });
        return written.get_future().get();
    }
    static void add_two(InvalidationJournals& journals) {
        journals.add(1, {{{1, 2}}, {}});
        journals.add(2, {{}, {{3, 4}}});
        journals.confirmed({{"b", {1, kInstance}}});
    }
    std::filesystem::path file(std::size_t at) const {
        return directories_[at] / SuperFile::kJournalName;
    }
    /// Its journal cannot be written any more.
    void obstruct(std::size_t at) const { std::filesystem::create_directory(fresh(at)); }
    void clear(std::size_t at) const { std::filesystem::remove(fresh(at)); }

    std::filesystem::path fresh(std::size_t at) const { return file(at).string() + ".new"; }

    test::TemporaryDirectory directory_;
    const std::array<std::filesystem::path, 2> directories_{directory_.path() / "one",
                                                            directory_.path() / "two"};
    test::FaultyCalls calls_;
};

TEST_F(InvalidationJournalsTest, AnyOfThemMayBeReplaced) {
    add_two(*open());
    for (std::size_t lost = 0; lost < 2; ++lost) {
        std::filesystem::remove(file(lost));
        const auto journals = open();
        EXPECT_TRUE(journals->trouble_reading().empty());
        EXPECT_EQ(journals->take_earlier(), kTwo) << lost;
    }
}

TEST_F(InvalidationJournalsTest, OneThatFailsLeavesItToTheOthers) {
    {
        obstruct(0);
        const auto journals = open();
        add_two(*journals);
        EXPECT_TRUE(settle(*journals)) << "one has it";
        const auto trouble = journals->trouble();
        ASSERT_EQ(trouble.size(), 1u);
        EXPECT_EQ(trouble[0].directory, directories_[0]);
        EXPECT_EQ(trouble[0].error, boost::system::errc::is_a_directory);
        EXPECT_TRUE(journals->wants_rewrite());
    }
    clear(0);
    for (int run = 0; run < 2; ++run) {  // in the first it is behind
        const auto journals = open();
        EXPECT_EQ(journals->take_earlier(), kTwo);
        EXPECT_TRUE(settle(*journals));
        EXPECT_TRUE(journals->trouble().empty());
        std::filesystem::remove(file(1));
    }
}

TEST_F(InvalidationJournalsTest, WritesAJournalWhereItIsMissing) {
    obstruct(1);
    const auto journals = open();
    add_two(*journals);
    settle(*journals);
    clear(1);
    journals->rewrite(kTwo);
    EXPECT_TRUE(settle(*journals));
    EXPECT_TRUE(journals->trouble().empty());
    EXPECT_FALSE(journals->wants_rewrite());
    std::filesystem::remove(file(0));
    EXPECT_EQ(open()->take_earlier(), kTwo);
}

TEST_F(InvalidationJournalsTest, ReportsAdditionsThatAllFailedToWrite) {
    const auto journals = open();
    calls_.on_write = EIO;
    add_two(*journals);
    EXPECT_FALSE(settle(*journals));
    EXPECT_EQ(journals->trouble().size(), 2u);
}

TEST_F(InvalidationJournalsTest, OneThatIsWholeIsEnough) {
    add_two(*open());
    std::filesystem::resize_file(file(0), std::filesystem::file_size(file(0)) - 1);
    {
        const auto journals = open();
        EXPECT_TRUE(journals->trouble_reading().empty());
        EXPECT_EQ(journals->take_earlier(), kTwo);
    }
    for (std::size_t i = 0; i < 2; ++i)
        std::filesystem::resize_file(file(i), std::filesystem::file_size(file(i)) - 1);
    EXPECT_EQ(open()->trouble_reading().size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) std::filesystem::resize_file(file(i), 10);
    EXPECT_EQ(open()->trouble_reading().size(), 2u);
}

}  // namespace invalidation_journals_test
}  // namespace proxy
