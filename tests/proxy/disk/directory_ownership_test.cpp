#include "proxy/disk/directory_ownership.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "proxy/disk/segment.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace directory_ownership_test {

class DirectoryOwnershipTest : public testing::Test {
protected:
    SuperFile take() { return SuperFile::take(calls_, directory_.path(), 5).value(); }

    test::TemporaryDirectory directory_;
    DiskCalls calls_;
    std::optional<DirectoryOwnership> ownership_{std::in_place, take(), false};
};

TEST_F(DirectoryOwnershipTest, SeesThatItsFileIsGone) {
    EXPECT_FALSE(ownership_->is_lost());
    std::filesystem::remove(directory_.path() / SuperFile::kName);
    EXPECT_TRUE(ownership_->is_lost());
}

// Otherwise records from before the failure could count again.
TEST_F(DirectoryOwnershipTest, ReturnsInALaterTermWithoutItsSegments) {
    const auto id = ownership_->directory_id();
    ASSERT_FALSE(ownership_->set_company({7, company_of({id, 9})}));
    ownership_->leave();
    ASSERT_FALSE(ownership_->set_company({})) << "the content counts no more";
    const auto segment = create_segment(calls_, directory_.path(), {{id, 1}, 4 * kDiskSector});
    ASSERT_TRUE(segment);
    ASSERT_FALSE(ownership_->retake(calls_, directory_.path(), 5));
    EXPECT_FALSE(std::filesystem::exists((*segment)->path));
    ownership_.reset();
    EXPECT_EQ(take().company(), (SuperFile::DirectorySet{8, company_of({id})}));
}

}  // namespace directory_ownership_test
}  // namespace proxy
