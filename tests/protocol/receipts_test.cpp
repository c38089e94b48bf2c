#include "protocol/links/receipts.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace protocol {
namespace receipts_test {

class ReceiptsTest : public ::testing::Test, protected Receipts::Listener {
protected:
    void more_is_kept() override { told.push_back(receipts->kept()); }

    std::shared_ptr<Receipts> receipts = std::make_shared<Receipts>();
    std::vector<std::uint64_t> told;
};

TEST_F(ReceiptsTest, WhatIsKeptIsKeptWithAllThatWasHandedOutBeforeIt) {
    receipts->listen(*this);
    const auto first = receipts->hand_out(3), second = receipts->hand_out(4),
               third = receipts->hand_out(9);
    EXPECT_EQ(receipts->handed_out(), 9U);
    EXPECT_EQ(receipts->kept(), 0U);
    second();  // whoever had the first could not tell
    EXPECT_EQ(receipts->kept(), 4U);
    first();
    EXPECT_EQ(receipts->kept(), 4U);
    third();
    EXPECT_EQ(told, (std::vector<std::uint64_t>{4, 9}));
}

TEST_F(ReceiptsTest, WhatIsDoneAtOnceIsKeptAtOnce) {
    receipts->hand_out(1)();
    receipts->hand_out(2)();
    EXPECT_EQ(receipts->kept(), 2U);
}

TEST_F(ReceiptsTest, OutliveWhoeverHadThem) {
    const auto done = receipts->hand_out(1);
    const std::weak_ptr<Receipts> rest = receipts;
    receipts.reset();
    EXPECT_FALSE(rest.expired());
    done();
}

TEST_F(ReceiptsTest, OnlyWhoeverListensLastIsToldAndOnlyHeCanEndThat) {
    struct Other final : Receipts::Listener {
        void more_is_kept() override { ++told; }
        int told = 0;
    } other;
    receipts->listen(other);
    receipts->listen(*this);
    receipts->leave(other);
    receipts->hand_out(1)();
    EXPECT_EQ(told.size(), 1U);
    EXPECT_EQ(other.told, 0);
    receipts->leave(*this);
    receipts->hand_out(2)();
    EXPECT_EQ(told.size(), 1U);
}

}  // namespace receipts_test
}  // namespace protocol
