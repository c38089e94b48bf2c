#include "proxy/storage/block_flow.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace proxy {
namespace block_flow_test {

using namespace std::chrono_literals;
using Stage = BlockFlow::Stage;

/// The part of a body of 1,000 bytes, in blocks of 100, that stands from 200 to 699.
class BlockFlowTest : public ::testing::Test {
protected:
    std::unique_ptr<Fill::Reader> join(std::uint64_t offset, const void* request = nullptr) {
        return flow.join(offset, reader, flow.is_of(request));
    }
    std::shared_ptr<BlockFlow> found(const BlockFlows& flows, const void* request) const {
        return flows.find(kVersion, 200, request, store);
    }
    static constexpr summary::KeyHash kVersion{1, 2}, kTarget{3, 4}, kTag{5, 6};

    boost::asio::io_context io;
    std::shared_ptr<base::Wakeup> writer = std::make_shared<base::Wakeup>(io.get_executor());
    std::shared_ptr<base::Wakeup> reader = std::make_shared<base::Wakeup>(io.get_executor());
    test::IgnoredEvents events;
    Store store{100'000, test::hasher(), events};
    const std::shared_ptr<const void> owner = std::make_shared<int>(),
                                      other = std::make_shared<int>();
    BlockFlow flow{Blocks{1000, 100},
                   ByteRange{200, 699},
                   writer,
                   1000,
                   {owner, true, {kTag, kTarget}, store.invalidations()}};
};

TEST_F(BlockFlowTest, LetsReadersJoinTheBlocksAhead) {
    EXPECT_EQ(flow.stage_of(199), Stage::outside);
    EXPECT_EQ(flow.stage_of(200), Stage::ahead);
    EXPECT_EQ(flow.stage_of(699), Stage::ahead);
    EXPECT_EQ(flow.stage_of(700), Stage::outside);
    flow.begin(300);
    EXPECT_EQ(flow.stage_of(250), Stage::here);
    EXPECT_EQ(flow.stage_of(350), Stage::here);
    EXPECT_EQ(flow.stage_of(400), Stage::ahead);
    EXPECT_EQ(join(350), nullptr);
    EXPECT_EQ(join(700), nullptr);
    EXPECT_NE(join(400), nullptr);
}

TEST(BlockFlow, IsAwaitedByPeersThatReadOnAndByOthersIfItComesSoon) {
    constexpr std::uint64_t kBlock = 1000;
    boost::asio::io_context io;
    const auto writer = std::make_shared<base::Wakeup>(io.get_executor());
    BlockFlow flow{
        Blocks{100 * kBlock, kBlock}, ByteRange{0, 100 * kBlock - 1}, writer, kBlock, {}};
    const auto begun = BlockFlow::Time(1000h);
    const auto far = (kBlocksAhead + 1) * kBlock;
    EXPECT_FALSE(flow.is_too_far_to_follow(far, 1ms, begun)) << "the rate is unknown";
    flow.came(0, begun);
    flow.came(1, begun + 1s);
    EXPECT_TRUE(flow.is_too_far_to_follow(far, 1ms, begun + 1s));
    EXPECT_FALSE(flow.is_too_far_to_follow(kBlocksAhead * kBlock, 1ms, begun + 1s));
    flow.begin(0);
    EXPECT_FALSE(flow.is_too_far_to_follow(far, 1ms, begun + 1s)) << "the run has come nearer";
    flow.came(1000 * kBlock, begun + 1s);
    EXPECT_FALSE(flow.is_too_far_to_follow(50 * kBlock, 1ms, begun + 1s)) << "soon";
}

TEST_F(BlockFlowTest, GivesItsLastBlockToReadersThatStayAlone) {
    const auto fill = flow.fill_for(200);
    flow.begin(200);
    EXPECT_EQ(flow.join(200, reader, false), nullptr) << "the store has it";
    EXPECT_NE(flow.join(200, reader, true), nullptr);
}

TEST_F(BlockFlowTest, IsWantedByReadersThatWaitForABlock) {
    EXPECT_FALSE(flow.wanted_from(200));
    const auto waiting = join(450);
    EXPECT_TRUE(flow.wanted_from(200));
    EXPECT_TRUE(flow.wanted_from(400));
    EXPECT_FALSE(flow.wanted_from(500));
    EXPECT_EQ(flow.audience().readers, 1u);
    flow.begin(400);
    EXPECT_FALSE(flow.wanted_from(200)) << "its fill is the store's affair now";
}

TEST_F(BlockFlowTest, IsReadWhileReadersComeAndGoBetweenTwoLooks) {
    std::uint64_t joined = flow.audience().joined;
    for (std::uint64_t first = 200; first < 700; first += 100) {
        const auto waiting = join(first);
        flow.begin(first);
        EXPECT_EQ(flow.audience().readers, 0u);
        EXPECT_GT(flow.audience().joined, std::exchange(joined, flow.audience().joined));
    }
}

TEST_F(BlockFlowTest, WaitsForTheNextRequestOfAPeer) {
    EXPECT_LE(flow.audience().alone_at_most, kAloneAtMost);
    flow.followed_by_peer();
    EXPECT_EQ(flow.audience().joined, 1u);
    EXPECT_EQ(flow.audience().alone_at_most, BlockFlow::kPeerStays);
}

TEST_F(BlockFlowTest, IsReadByAStreamThatSendsWhatCameBefore) {
    const auto shared = std::make_shared<BlockFlow>(Blocks{1000, 100}, ByteRange{200, 699}, writer,
                                                    1000, BlockFlow::Ownership{owner});
    auto attended = BlockFlow::attend(shared);
    EXPECT_EQ(attended, shared);
    const auto waiting = attended->join(200, reader, false);
    shared->begin(200);
    EXPECT_EQ(shared->audience().readers, 1u);
    EXPECT_FALSE(shared->all_wait_for(300));
    const auto next = attended->join(300, reader, true);
    EXPECT_TRUE(shared->all_wait_for(300));
    const auto too = BlockFlow::attend(shared);
    EXPECT_FALSE(shared->all_wait_for(300));
    attended.reset();
    EXPECT_TRUE(shared->all_wait_for(300));
}

TEST_F(BlockFlowTest, GivesAllReadersOfABlockOneFill) {
    const auto one = join(300), too = join(399);
    const auto fill = flow.fill_for(300);
    EXPECT_EQ(fill->audience().readers, 2u);
}

TEST_F(BlockFlowTest, ReleasesWaitingReadersAtItsEnd) {
    const auto waiting = join(300);
    flow.end();
    EXPECT_EQ(waiting->state().phase, Fill::Phase::failed);
    EXPECT_EQ(waiting->state().error, FetchError::abandoned);
    EXPECT_EQ(join(300), nullptr);
    EXPECT_EQ(flow.stage_of(300), Stage::outside);
}

TEST_F(BlockFlowTest, KnowsBlocksThatComeTooLate) {
    const BlockFlow::Time now{1h};
    flow.came(10, now);
    flow.came(90, now + 1s);
    EXPECT_FALSE(flow.is_far(250, 0s, now + 1s)) << "that is here";
    EXPECT_FALSE(flow.is_far(320, 0s, now + 1s));
    EXPECT_TRUE(flow.is_far(600, 0s, now + 1s));
    EXPECT_FALSE(flow.takes_long(0, 0s, now + 1s));
    EXPECT_TRUE(flow.takes_long(10'000, 0s, now + 1s));
}

TEST_F(BlockFlowTest, IsOpenToAllWhileItsAnswerIsStored) {
    EXPECT_TRUE(flow.is_open_to(nullptr, store));
    EXPECT_TRUE(flow.is_open_to(other.get(), store));
    store.invalidate({7, 8}, Store::Clock::time_point(1h));
    EXPECT_TRUE(flow.is_open_to(other.get(), store)) << "that was of something else";
}

TEST_F(BlockFlowTest, IsOpenToItsRequestAloneAfterAnInvalidation) {
    for (const auto name : {kTarget, kTag}) {
        const BlockFlow begun(Blocks{1000, 100}, ByteRange{200, 699}, writer, 1000,
                              {owner, true, {kTag, kTarget}, store.invalidations()});
        ASSERT_FALSE(begun.is_outdated(store));
        if (name == kTag)
            store.invalidate(test::of_tag(name), Store::Clock::time_point(1h));
        else
            store.invalidate(name, Store::Clock::time_point(1h));
        EXPECT_TRUE(begun.is_outdated(store));
        EXPECT_TRUE(begun.is_open_to(owner.get(), store));
        EXPECT_FALSE(begun.is_open_to(other.get(), store));
        EXPECT_FALSE(begun.is_open_to(nullptr, store));
    }
}

TEST_F(BlockFlowTest, IsFoundOnlyByItsOwnerIfItIsNotStored) {
    BlockFlows flows;
    const auto secret =
        std::make_shared<BlockFlow>(Blocks{1000, 100}, ByteRange{0, 999}, writer, 1,
                                    BlockFlow::Ownership{owner, false, {}, store.invalidations()});
    flows.add(kVersion, secret);
    EXPECT_EQ(found(flows, owner.get()), secret);
    EXPECT_EQ(found(flows, other.get()), nullptr);
    EXPECT_EQ(found(flows, nullptr), nullptr);
}

TEST_F(BlockFlowTest, HasNoOwnerWithoutARequest) {
    const BlockFlow refresh(Blocks{1000, 100}, ByteRange{0, 999}, writer, 1, {});
    EXPECT_FALSE(refresh.is_of(nullptr));
    EXPECT_FALSE(refresh.is_of(owner.get()));
}

TEST_F(BlockFlowTest, GivesTheBlockThatWasBegunLastToItsRequestAlone) {
    flow.fill_for(300);
    flow.begin(300);
    EXPECT_NE(join(350, owner.get()), nullptr);
    EXPECT_EQ(join(350, other.get()), nullptr);
    EXPECT_EQ(join(350), nullptr);
    flow.begin(400);
    EXPECT_EQ(join(350, owner.get()), nullptr) << "it is through";
}

TEST_F(BlockFlowTest, ABlockThatAnotherResponseBringsIsGivenToNobody) {
    const auto waiting = join(300, owner.get());
    flow.fill_for(300);
    flow.pass(300);
    EXPECT_EQ(waiting->state().error, FetchError::abandoned);
    EXPECT_EQ(join(350, owner.get()), nullptr);
    EXPECT_EQ(join(350), nullptr);
    EXPECT_EQ(flow.stage_of(350), Stage::here);
    EXPECT_EQ(flow.next(), 400u);
}

TEST_F(BlockFlowTest, ABlockThatHasFailedIsNotGivenAgain) {
    const auto fill = flow.fill_for(300);
    flow.begin(300);
    fill->fail(FetchError::abandoned);
    EXPECT_EQ(join(350, owner.get()), nullptr);
}

// A head that proves unshareable sends away all readers that joined before it came.
TEST_F(BlockFlowTest, ServesOnlyItsOwnerIfItIsNotStored) {
    const auto own = join(300, owner.get()), stranger = join(300, other.get()), nobody = join(300);
    Fill::Incoming incoming;
    incoming.response = std::make_shared<StoredResponse>();
    incoming.shared = false;
    flow.fill_for(300)->begin(std::move(incoming));
    EXPECT_FALSE(own->state().released);
    EXPECT_TRUE(stranger->state().released);
    EXPECT_TRUE(nobody->state().released);
}

TEST_F(BlockFlowTest, IsFoundByTheBlocksThatItBrings) {
    BlockFlows flows;
    const summary::KeyHash version{1, 2}, another{1, 3};
    const auto find = [&](summary::KeyHash of, std::uint64_t offset) {
        return flows.find(of, offset, nullptr, store);
    };
    const auto late = std::make_shared<BlockFlow>(Blocks{1000, 100}, ByteRange{500, 999}, writer, 1,
                                                  BlockFlow::Ownership());
    const auto all = std::make_shared<BlockFlow>(Blocks{1000, 100}, ByteRange{0, 999}, writer, 1,
                                                 BlockFlow::Ownership());
    flows.add(version, late);
    EXPECT_EQ(find(version, 100), nullptr);
    flows.add(version, all);
    EXPECT_EQ(find(version, 100), all);
    EXPECT_EQ(find(another, 100), nullptr);
    all->begin(100);
    EXPECT_EQ(find(version, 100), all) << "it has begun that";
    late->begin(600);
    EXPECT_EQ(find(version, 650), all) << "which will bring it anew";
    flows.remove(version, all.get());
    EXPECT_EQ(find(version, 100), nullptr);
    EXPECT_EQ(find(version, 800), late);
}

}  // namespace block_flow_test
}  // namespace proxy
