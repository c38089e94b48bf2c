#include "proxy/storage/block_flow.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace proxy {
namespace block_flow_test {

using namespace std::chrono_literals;
using Place = BlockFlow::Place;

/// Of a body of 1,000 bytes in blocks of 100, what stands from 200 to 699.
class BlockFlowTest : public ::testing::Test {
protected:
    std::unique_ptr<Fill::Reader> join(std::uint64_t offset) { return flow.join(offset, reader); }

    boost::asio::io_context io;
    std::shared_ptr<Wakeup> writer = std::make_shared<Wakeup>(io.get_executor());
    std::shared_ptr<Wakeup> reader = std::make_shared<Wakeup>(io.get_executor());
    BlockFlow flow{Blocks{1000, 100}, ByteRange{200, 699}, writer, 1000};
};

TEST_F(BlockFlowTest, BringsWhatItHasNotBegun) {
    EXPECT_EQ(flow.place_of(199), Place::outside);
    EXPECT_EQ(flow.place_of(200), Place::ahead);
    EXPECT_EQ(flow.place_of(699), Place::ahead);
    EXPECT_EQ(flow.place_of(700), Place::outside);
    flow.begin(300);
    EXPECT_EQ(flow.place_of(250), Place::here);
    EXPECT_EQ(flow.place_of(350), Place::here);
    EXPECT_EQ(flow.place_of(400), Place::ahead);
    EXPECT_EQ(join(350), nullptr);
    EXPECT_EQ(join(700), nullptr);
    EXPECT_NE(join(400), nullptr);
}

TEST_F(BlockFlowTest, IsWantedByWhoWaitsForABlock) {
    EXPECT_FALSE(flow.wanted_from(200));
    const auto waiting = join(450);
    EXPECT_TRUE(flow.wanted_from(200));
    EXPECT_TRUE(flow.wanted_from(400));
    EXPECT_FALSE(flow.wanted_from(500));
    EXPECT_EQ(flow.audience().readers, 1u);
    flow.begin(400);
    EXPECT_FALSE(flow.wanted_from(200)) << "its fill is the store's affair now";
}

TEST_F(BlockFlowTest, GivesAllWhoWaitForABlockOneFill) {
    const auto one = join(300), other = join(399);
    const auto fill = flow.fill_for(300);
    EXPECT_EQ(fill->audience().readers, 2u);
}

TEST_F(BlockFlowTest, SendsThoseAwayWhoWaitWhenItEnds) {
    const auto waiting = join(300);
    flow.end();
    EXPECT_EQ(waiting->state().phase, Fill::Phase::failed);
    EXPECT_EQ(waiting->state().error, FetchError::abandoned);
    EXPECT_EQ(join(300), nullptr);
    EXPECT_EQ(flow.place_of(300), Place::outside);
}

TEST_F(BlockFlowTest, KnowsWhatIsFar) {
    const BlockFlow::Time now{1h};
    flow.came(10, now);
    flow.came(90, now + 1s);
    EXPECT_FALSE(flow.is_far(250, 0s, now + 1s)) << "that is here";
    EXPECT_FALSE(flow.is_far(320, 0s, now + 1s));
    EXPECT_TRUE(flow.is_far(600, 0s, now + 1s));
}

TEST_F(BlockFlowTest, IsFoundByWhatItBrings) {
    BlockFlows flows;
    const summary::KeyHash version{1, 2}, other{1, 3};
    const auto late =
        std::make_shared<BlockFlow>(Blocks{1000, 100}, ByteRange{500, 999}, writer, 1);
    const auto all = std::make_shared<BlockFlow>(Blocks{1000, 100}, ByteRange{0, 999}, writer, 1);
    flows.add(version, late);
    EXPECT_EQ(flows.find(version, 100), nullptr);
    flows.add(version, all);
    EXPECT_EQ(flows.find(version, 100), all);
    EXPECT_EQ(flows.find(other, 100), nullptr);
    all->begin(100);
    EXPECT_EQ(flows.find(version, 100), all) << "it has begun that";
    late->begin(600);
    EXPECT_EQ(flows.find(version, 650), all) << "which will bring it anew";
    flows.remove(version, all.get());
    EXPECT_EQ(flows.find(version, 100), nullptr);
    EXPECT_EQ(flows.find(version, 800), late);
}

}  // namespace block_flow_test
}  // namespace proxy
