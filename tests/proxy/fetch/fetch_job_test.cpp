#include "proxy/fetch/fetch_job.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace fetch_job_test {

class BlockJobTest : public ::testing::Test, protected test::IdleCache {
protected:
    /// A job for a body of 250 bytes in blocks of 100, version "1".
    std::unique_ptr<FetchJob> at(std::uint64_t offset) {
        StoredMetadata index;
        index.blocks = Blocks{250, 100};
        index.tags = {{1, 2}};
        return make_block_job(cache, job->wanted.request, blocks_of(index, {"\"1\"", "0f"}),
                              offset);
    }
};

TEST_F(BlockJobTest, IsForTheBlockThatHoldsTheOffset) {
    EXPECT_EQ(at(0)->wanted.block->range, (ByteRange{0, 99}));
    EXPECT_EQ(at(199)->wanted.block->range, (ByteRange{100, 199}));
    EXPECT_EQ(at(200)->wanted.block->range, (ByteRange{200, 249})) << "the last one is shorter";
    EXPECT_EQ(at(0)->wanted.block->length, 250u);
    EXPECT_EQ(at(0)->wanted.block->version.etag, "\"1\"");
    EXPECT_EQ(at(0)->wanted.block->tags, (std::vector<summary::KeyHash>{{1, 2}}));
}

TEST_F(BlockJobTest, ClaimsAKeyOfTargetVersionAndRange) {
    const auto block = at(100);
    EXPECT_EQ(block->result.lease.uri(), block_key(key.uri(), "\"1\"", "0f", {100, 199}));
    EXPECT_EQ(block->result.lease.hash(), hasher(block->result.lease.uri()));
    EXPECT_EQ(block->wanted.block->target, hasher(key.uri())) << "it goes with that";
}

TEST_F(BlockJobTest, GoesOnWithoutReadersForAWhile) {
    EXPECT_TRUE(at(0)->result.fill->wanted());
    EXPECT_EQ(at(0)->result.fill->audience().alone_at_most, kAloneAtMost);
}

TEST_F(BlockJobTest, AsksWhereItsTargetIs) {
    EXPECT_EQ(at(0)->wanted.request->origin()->host, "h");
}

}  // namespace fetch_job_test
}  // namespace proxy
