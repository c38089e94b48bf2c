#include "proxy/storage/invalidation_journal.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <iterator>
#include <memory>

#include "protocol/wire/keys.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace invalidation_journal_test {

using protocol::InvalidationBacklog;
using Entries = std::vector<InvalidationBacklog::Entry>;
using PeerProgress = InvalidationBacklog::ConfirmedByNode;

constexpr std::uint64_t kMark = 0x1122334455667788;
constexpr protocol::Instance kInstance{std::byte{1}}, kNextInstance{std::byte{2}};

InvalidationBacklog some_kept() {
    return {2,
            5,
            {{3, {7, 8}, false}, {5, {9, 10}, true}},
            {{"b", {5, kInstance}}, {"c", {2, kInstance}}}};
}

class InvalidationJournalTest : public testing::Test {
protected:
    std::unique_ptr<InvalidationJournal> open(std::uint64_t mark = kMark) {
        return std::make_unique<InvalidationJournal>(calls_, file(), mark);
    }
    std::filesystem::path file() const { return directory_.path() / "hearsay.invalidations"; }
    std::string bytes() const {
        std::ifstream in(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void put_bytes(const std::string& bytes) const {
        std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
    }
    static bool settle(InvalidationJournal& journal) {
        std::promise<bool> written;
        journal.when_written([&](bool is) { written.set_value(is); });
        return written.get_future().get();
    }

    test::TemporaryDirectory directory_;
    test::FaultyCalls calls_;
};

TEST_F(InvalidationJournalTest, BeginsEmpty) {
    const auto journal = open();
    EXPECT_FALSE(journal->trouble_reading());
    EXPECT_FALSE(journal->trouble());
    EXPECT_EQ(journal->take_earlier(), InvalidationBacklog());
    EXPECT_FALSE(journal->wants_rewrite());
}

TEST_F(InvalidationJournalTest, TheNextInstanceKnowsAdditionsAndConfirmations) {
    {
        const auto journal = open();
        journal->add(3, {{{1, 2}, {3, 4}}, {{5, 6}}});
        journal->confirmed({{"b", {0, kInstance}}, {"c", {3, kInstance}}});
        journal->add(4, {{{7, 8}}, {}});
        journal->confirmed({{"b", {2, kInstance}}, {"c", {3, kNextInstance}}});
    }
    const InvalidationBacklog all{0,
                                  4,
                                  {{1, {1, 2}}, {2, {3, 4}}, {3, {5, 6}, true}, {4, {7, 8}}},
                                  {{"b", {2, kInstance}}, {"c", {3, kNextInstance}}}};
    for (int run = 0; run < 2; ++run) {
        const auto journal = open();
        EXPECT_FALSE(journal->trouble_reading());
        EXPECT_EQ(journal->take_earlier(), all);
    }
}

// As kill -9 leaves it: the destructor of the first never runs before the second reads.
TEST_F(InvalidationJournalTest, WrittenAdditionsSurviveAKill) {
    const auto first = open();
    first->add(1, {{{1, 2}}, {}});
    settle(*first);
    const auto left = bytes();
    EXPECT_EQ(read_journal(test::bytes_of(left), kMark).kept.entries, (Entries{{1, {1, 2}}}));
}

TEST_F(InvalidationJournalTest, WritesOnlyChanges) {
    const auto journal = open();
    journal->confirmed({{"b", {7, kInstance}}});
    settle(*journal);
    const auto size = bytes().size();
    for (int i = 0; i < 10; ++i) journal->confirmed({{"b", {7, kInstance}}});
    settle(*journal);
    EXPECT_EQ(bytes().size(), size);
    journal->confirmed({{"b", {7, kNextInstance}}});
    settle(*journal);
    EXPECT_GT(bytes().size(), size);
}

TEST_F(InvalidationJournalTest, IsWrittenAnewWhenItHasGrown) {
    const auto journal = open();
    std::uint64_t last = 0;
    for (; !journal->wants_rewrite(); settle(*journal)) {
        ASSERT_LT(last, 1'000'000U);
        journal->add(last += 1000, {std::vector<summary::KeyHash>(1000, {1, 2}), {}});
    }
    EXPECT_GT(bytes().size(), InvalidationJournal::kMinAdded);
    journal->rewrite({last - 1, last, {{last, {1, 2}}}, {{"b", {last - 1, kInstance}}}});
    journal->add(last + 1, {{{3, 4}}, {}});
    settle(*journal);
    EXPECT_LT(bytes().size(), 300U);
    EXPECT_FALSE(journal->wants_rewrite());
    const auto left = bytes();
    EXPECT_EQ(read_journal(test::bytes_of(left), kMark).kept,
              (InvalidationBacklog{last - 1,
                                   last + 1,
                                   {{last, {1, 2}}, {last + 1, {3, 4}}},
                                   {{"b", {last - 1, kInstance}}}}));
}

TEST_F(InvalidationJournalTest, ADiskThatFailsIsTriedAgainWithTheWholeContent) {
    const auto journal = open();
    calls_.on_write = ENOSPC;
    journal->add(1, {{{1, 2}}, {}});
    settle(*journal);
    EXPECT_EQ(journal->trouble(), boost::system::errc::no_space_on_device);
    EXPECT_TRUE(journal->wants_rewrite());
    journal->add(2, {{{3, 4}}, {}});
    journal->rewrite({0, 2, {{1, {1, 2}}, {2, {3, 4}}}, {}});
    settle(*journal);
    EXPECT_TRUE(journal->wants_rewrite()) << "it failed, too";
    calls_.on_write = 0;
    journal->rewrite({0, 2, {{1, {1, 2}}, {2, {3, 4}}}, {}});
    journal->add(3, {{{5, 6}}, {}});
    settle(*journal);
    EXPECT_FALSE(journal->trouble());
    EXPECT_FALSE(journal->wants_rewrite());
    const auto left = bytes();
    EXPECT_EQ(read_journal(test::bytes_of(left), kMark).kept.entries,
              (Entries{{1, {1, 2}}, {2, {3, 4}}, {3, {5, 6}}}));
}

TEST_F(InvalidationJournalTest, AFileThatCannotBeMadeDoesNotPreventAStart) {
    calls_.on_write = EIO;
    const auto journal = open();
    EXPECT_EQ(journal->trouble(), boost::system::errc::io_error);
    EXPECT_TRUE(journal->wants_rewrite());
    journal->add(1, {{{1, 2}}, {}});
    EXPECT_FALSE(settle(*journal)) << "and says so";
    calls_.on_write = 0;
    journal->rewrite({0, 1, {{1, {1, 2}}}, {}});
    EXPECT_TRUE(settle(*journal));
}

TEST_F(InvalidationJournalTest, ItIsUselessUnderAnotherSecret) {
    { open()->add(1, {{{1, 2}}, {}}); }
    const auto journal = open(kMark + 1);
    EXPECT_EQ(journal->trouble_reading(), DiskError::other_secret);
    EXPECT_EQ(journal->take_earlier(), InvalidationBacklog());
}

TEST_F(InvalidationJournalTest, ATornFileCountsUpToTheTear) {
    put_bytes("");
    EXPECT_EQ(open()->trouble_reading(), DiskError::foreign);
    const auto all = journal_of({0, 1, {{1, {1, 2}}}, {{"b", {1, kInstance}}}}, kMark);
    const auto whole = std::string(as_text(all));
    put_bytes(whole.substr(0, whole.size() - 1));
    const auto journal = open();
    EXPECT_EQ(journal->trouble_reading(), DiskError::cut_off);
    const auto earlier = journal->take_earlier();
    EXPECT_EQ(earlier.entries, (Entries{{1, {1, 2}}}));
    EXPECT_EQ(earlier.confirmed, PeerProgress());
    EXPECT_EQ(bytes().size(), journal_of({0, 1, {{1, {1, 2}}}, {}}, kMark).size())
        << "the torn end has gone";
}

TEST(ReadJournal, ReadsAJournalBack) {
    const auto bytes = journal_of(some_kept(), kMark);
    const auto read = read_journal(bytes, kMark);
    EXPECT_FALSE(read.trouble);
    EXPECT_EQ(read.kept, some_kept());
    auto many = some_kept();
    for (std::uint64_t i = 6; i < 5000; ++i) many.entries.push_back({i, {i, i}, i % 2 == 0});
    many.last = 4999;
    EXPECT_EQ(read_journal(journal_of(many, kMark), kMark).kept, many);
}

TEST(ReadJournal, NoticesEachBitThatFlips) {
    const auto good = journal_of(some_kept(), kMark);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_TRUE(read_journal(bad, kMark).trouble) << bit;
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
        const auto cut = read_journal(DiskView(good).first(size), kMark);
        EXPECT_LE(cut.kept.entries.size(), 2U);
    }
}

TEST(ReadJournal, DoesNotTakeNumbersThatGoBack) {
    auto kept = some_kept();
    std::swap(kept.entries[0], kept.entries[1]);
    EXPECT_TRUE(read_journal(journal_of(kept, kMark), kMark).trouble);
    kept = some_kept();
    kept.gone = 3;
    EXPECT_TRUE(read_journal(journal_of(kept, kMark), kMark).trouble);
}

TEST(ReadJournal, ReadsFormat1WithoutRuns) {
    const auto read = read_journal(
        protocol::test::unhex("6865617273617920696e76616c69646174696f6e730a010000008877665544332211"
                              "02000000000000000300000000000000164fece7ee4184091800000001000000c85d"
                              "5679600594f103000000000000800700000000000000080000000000000009000000"
                              "02000000327b5845338a99fc020000000000000062"),
        kMark);
    EXPECT_FALSE(read.trouble);
    EXPECT_EQ(read.kept, (InvalidationBacklog{2, 3, {{3, {7, 8}, true}}, {{"b", {2, {}}}}}));
}

// FORMAT.md has it byte for byte.
TEST(ReadJournal, LooksAsThePageSays) {
    protocol::Instance instance{};
    instance.fill(std::byte{0xb0});
    const auto all = journal_of({2, 3, {{3, {7, 8}, true}}, {{"b", {2, instance}}}}, kMark);
    EXPECT_EQ(base::hex(all),
              "6865617273617920696e76616c69646174696f6e730a020000008877665544332211"
              "020000000000000003000000000000000e288c3cd50488a81800000001000000c85d"
              "5679600594f103000000000000800700000000000000080000000000000019000000"
              "03000000a5a46b76072de0fb0200000000000000b0b0b0b0b0b0b0b0b0b0b0b0b0b0"
              "b0b062");
}

}  // namespace invalidation_journal_test
}  // namespace proxy
