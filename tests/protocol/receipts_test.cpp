#include "protocol/links/receipts.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace protocol {
namespace receipts_test {

class ReceiptsTest : public ::testing::Test, protected Receipts::Listener {
protected:
    void more_is_kept() override { notified.push_back(receipts->kept()); }

    std::shared_ptr<Receipts> receipts = std::make_shared<Receipts>();
    std::vector<std::uint64_t> notified;
};

TEST_F(ReceiptsTest, AKeptInvalidationKeepsAllEarlierOnes) {
    receipts->listen(*this);
    const auto first = receipts->hand_out(3), second = receipts->hand_out(4),
               third = receipts->hand_out(9);
    EXPECT_EQ(receipts->handed_out(), 9U);
    EXPECT_EQ(receipts->kept(), 0U);
    second();  // the owner of the first had no chance to call it
    EXPECT_EQ(receipts->kept(), 4U);
    first();
    EXPECT_EQ(receipts->kept(), 4U);
    third();
    EXPECT_EQ(notified, (std::vector<std::uint64_t>{4, 9}));
}

TEST_F(ReceiptsTest, AnInvalidationThatIsDoneAtOnceIsKeptAtOnce) {
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

TEST_F(ReceiptsTest, OnlyTheLastListenerIsNotifiedAndOnlyItCanEndThat) {
    struct Other final : Receipts::Listener {
        void more_is_kept() override { ++notified; }
        int notified = 0;
    } other;
    receipts->listen(other);
    receipts->listen(*this);
    receipts->leave(other);
    receipts->hand_out(1)();
    EXPECT_EQ(notified.size(), 1U);
    EXPECT_EQ(other.notified, 0);
    receipts->leave(*this);
    receipts->hand_out(2)();
    EXPECT_EQ(notified.size(), 1U);
}

}  // namespace receipts_test
}  // namespace protocol
