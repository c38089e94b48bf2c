#include "proxy/storage/first_sight_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "tests/proxy/disk/disk_kit.hpp"
#include "tests/proxy/hash.hpp"

namespace proxy {
namespace first_sight_file_test {

using namespace std::chrono_literals;
using Clock = FirstSightFiles::Clock;

constexpr std::uint64_t kMark = 0x1122334455667788;
constexpr WallTime kFirst = std::chrono::sys_days(2025y / 1 / 1);
const std::vector<FirstSights::Sight> kTwo{{{1, 2}, kFirst, kFirst + 9h}, {{3, 4}, kFirst, kFirst}};

class FirstSightFile : public ::testing::Test {
protected:
    std::unique_ptr<FirstSightFiles> open(FirstSights& sights, std::uint64_t mark = kMark) {
        return std::make_unique<FirstSightFiles>(calls_, std::vector{one_.path(), two_.path()},
                                                 mark, sights);
    }
    static std::filesystem::path in(const test::TemporaryDirectory& directory) {
        return directory.path() / "hearsay.first-sights";
    }

    test::TemporaryDirectory one_, two_;
    test::FaultyCalls calls_;
    FirstSights before_{test::hasher()}, after_{test::hasher()};
};

TEST_F(FirstSightFile, SurvivesARestart) {
    {
        const auto files = open(before_);
        before_.restore(kTwo, kFirst + 10h);
    }
    const auto files = open(after_);
    EXPECT_EQ(after_.all().size(), 2u);
    EXPECT_EQ(after_.all(), before_.all());
    EXPECT_TRUE(files->take_troubles().empty());
}

TEST_F(FirstSightFile, IsAbsentWithoutAnyFirstSight) {
    open(before_).reset();
    EXPECT_FALSE(std::filesystem::exists(in(one_)));
}

TEST_F(FirstSightFile, IsWrittenNowAndThen) {
    const auto files = open(before_);
    const auto now = Clock::now();
    before_.restore(std::span(kTwo).first(1), kFirst + 10h);
    files->maintain(now);
    before_.restore(kTwo, kFirst + 10h);
    files->maintain(now + FirstSightFiles::kEvery - 1s);  // too early
    open(after_).reset();
    EXPECT_LE(after_.all().size(), 1u);
}

TEST_F(FirstSightFile, OneOfSeveralDirectoriesIsEnough) {
    {
        const auto files = open(before_);
        before_.restore(kTwo, kFirst + 10h);
    }
    std::filesystem::remove(in(one_));
    std::ofstream(in(two_), std::ios::app | std::ios::binary) << "";
    const auto files = open(after_);
    EXPECT_EQ(after_.all(), before_.all());
}

TEST_F(FirstSightFile, ADamagedFileAndOneOfAnotherSecretAreLeftOut) {
    const auto bytes = first_sight_bytes(kTwo, kMark);
    ASSERT_TRUE(read_first_sights(bytes, kMark));
    EXPECT_EQ(*read_first_sights(bytes, kMark), kTwo);
    EXPECT_EQ(read_first_sights(bytes, kMark + 1).error(),
              make_error_code(DiskError::other_secret));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto flipped = bytes;
        flipped[i] ^= std::byte{1};
        EXPECT_FALSE(read_first_sights(flipped, kMark)) << i;
        EXPECT_FALSE(read_first_sights(DiskView(bytes).first(i), kMark)) << i;
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(read_first_sights(longer, kMark));
}

TEST_F(FirstSightFile, AFaultOfADiskIsToldOnce) {
    std::ofstream(in(one_)) << "something else";
    const auto files = open(after_);
    ASSERT_EQ(files->take_troubles().size(), 1u);
    EXPECT_TRUE(files->take_troubles().empty());
    EXPECT_TRUE(after_.all().empty());
}

}  // namespace first_sight_file_test
}  // namespace proxy
