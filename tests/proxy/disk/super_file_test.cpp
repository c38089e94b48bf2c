#include "proxy/disk/super_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "proxy/disk/segment.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace super_file_test {

class SuperFileTest : public testing::Test {
protected:
    DiskResult<SuperFile> take(std::uint64_t mark = 5) {
        return SuperFile::take(calls_, directory_.path(), mark);
    }
    std::filesystem::path file() const { return directory_.path() / SuperFile::kName; }
    void put_file(const std::string& name, const std::string& text) {
        std::ofstream(directory_.path() / name, std::ios::binary) << text;
    }
    std::string bytes() {
        std::ifstream in(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    test::TemporaryDirectory directory_;
    DiskCalls calls_;
};

TEST_F(SuperFileTest, MakesAnEmptyDirectoryOursAndKnowsItAgain) {
    std::uint64_t id = 0;
    {
        const auto first = take();
        ASSERT_TRUE(first);
        id = first->directory_id();
    }
    const auto again = take();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->directory_id(), id);
}

TEST_F(SuperFileTest, CountsItsUsersAndKeepsTheirCompany) {
    {
        auto first = take();
        ASSERT_TRUE(first);
        EXPECT_EQ(first->instance(), 1u);
        EXPECT_EQ(first->company(), SuperFile::DirectorySet());
        ASSERT_FALSE(first->set_company({3, company_of({7, 9})}));
    }
    {
        auto second = take();
        ASSERT_TRUE(second);
        EXPECT_EQ(second->instance(), 2u);
        EXPECT_EQ(second->company(), (SuperFile::DirectorySet{3, company_of({9, 7})}));
        ASSERT_FALSE(second->set_company({}, 40));
    }
    EXPECT_EQ(take()->instance(), 41u);
    EXPECT_NE(company_of({7, 9}), company_of({7}));
}

TEST_F(SuperFileTest, RefusesASecondUser) {
    const auto first = take();
    ASSERT_TRUE(first);
    EXPECT_EQ(take().error(), DiskError::in_use);
    const auto child = fork();
    if (child == 0) _exit(take().error() == DiskError::in_use ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(SuperFileTest, LeavesForeignFilesAlone) {
    put_file("thesis.txt", "years of work");
    EXPECT_EQ(take().error(), DiskError::foreign);
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(SuperFileTest, RefusesAForeignSuperFile) {
    put_file(SuperFile::kName, std::string(512, 'x'));
    EXPECT_EQ(take().error(), DiskError::foreign);
}

TEST_F(SuperFileTest, RefusesANewerFormatAndAnotherSecret) {
    (void)take();
    EXPECT_EQ(take(6).error(), DiskError::other_secret);
    auto newer = bytes();
    newer[22] = 2;
    put_file(SuperFile::kName, newer);
    EXPECT_EQ(take().error(), DiskError::newer_format);
}

TEST_F(SuperFileTest, NoticesEachBitThatFlips) {
    (void)take();
    const auto good = bytes();
    ASSERT_EQ(good.size(), kDiskSector);
    for (std::size_t bit = 0; bit < 74 * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
        put_file(SuperFile::kName, bad);
        EXPECT_FALSE(take()) << bit;
    }
    put_file(SuperFile::kName, good);
    EXPECT_TRUE(take());
}

// Its maker was killed before it had written all of it.
TEST_F(SuperFileTest, RestartsAFileThatWasBrokenOffAtTheBeginning) {
    const auto id = take()->directory_id();
    put_file(SuperFile::kName, bytes().substr(0, 100));
    {
        const auto taken = take();
        ASSERT_TRUE(taken);
        EXPECT_NE(taken->directory_id(), id);
        EXPECT_EQ(taken->instance(), 1u);
    }
}

TEST_F(SuperFileTest, TakesADirectoryThatHasOnlySegments) {
    const auto segment =
        create_segment(calls_, directory_.path(), {{take()->directory_id(), 7}, 4 * kDiskSector});
    ASSERT_TRUE(segment);
    put_file("00000008.segment", "");  // a process was killed when it had just made it
    std::filesystem::remove(file());
    EXPECT_EQ(take()->company(), SuperFile::DirectorySet()) << "nothing in it counts";
    std::filesystem::remove(file());
    put_file("00000009.segment", "somebody else's, whatever it is called");
    EXPECT_EQ(take().error(), DiskError::foreign);
}

TEST_F(SuperFileTest, NoticesThatItWasRemoved) {
    const auto taken = take();
    EXPECT_FALSE(taken->is_removed());
    std::filesystem::remove(file());
    EXPECT_TRUE(taken->is_removed());
}

TEST_F(SuperFileTest, ReportsAMissingDirectory) {
    EXPECT_EQ(SuperFile::take(calls_, directory_.path() / "none", 1).error(),
              boost::system::errc::no_such_file_or_directory);
}

}  // namespace super_file_test
}  // namespace proxy
