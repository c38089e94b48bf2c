#include "proxy/fetch/fetch_peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/fetch/idle_cache.hpp"
#include "tests/proxy/hash.hpp"

namespace proxy {
namespace fetch_peers_test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const Store::Clock::time_point kNow(10'000h);

class FetchPeersTest : public ::testing::Test, protected test::IdleCache {
protected:
    void invalidated(std::chrono::seconds ago, summary::KeyHash what) {
        shared.store.invalidate(what, kNow - ago);
    }
    static StoredMetadata fresh_copy() {
        StoredMetadata copy;
        copy.freshness.lifetime = StoredSeconds(60);
        return copy;
    }

    FetchPeers copies{cache, *job};
};

TEST_F(FetchPeersTest, AskForWhatIsStoredThere) {  // RFC 9111 §5.2.1.7
    EXPECT_THAT(copies.request_text("token", kNow),
                HasSubstr("Cache-Control: only-if-cached\r\nHearsay-Peer: a token\r\n"));
}

TEST_F(FetchPeersTest, SayBehindTheProofWhatElseWillDo) {
    EXPECT_THAT(copies.request_text("token", kNow, " stale"),
                HasSubstr("Hearsay-Peer: a token stale\r\n"));
    job->wanted.part = WantedPart{parse_range("bytes=5-9")};
    EXPECT_THAT(copies.request_text("token", kNow, " stale"),
                HasSubstr("Hearsay-Peer: a token stale part\r\n"));
}

TEST_F(FetchPeersTest, WantNothingOlderThanTheLastInvalidation) {
    invalidated(992s, job->result.lease.hash());
    EXPECT_THAT(copies.request_text("token", kNow), HasSubstr("max-age=99"));
}

TEST_F(FetchPeersTest, WantABlockOfAVersionHoweverOld) {
    job->wanted.block = WantedBlock{{100, 199}, 250, {"\"1\"", "0f"}, job->result.lease.hash()};
    invalidated(1000s, job->result.lease.hash());
    const auto text = copies.request_text("token", kNow);
    EXPECT_THAT(text, HasSubstr("Range: bytes=100-199\r\nIf-Range: \"1\"\r\nHearsay-Form: 0f\r\n"));
    EXPECT_THAT(text, Not(HasSubstr("max-age")));
}

TEST_F(FetchPeersTest, AreCurrentUnlessInvalidatedByKeyOrTag) {
    auto copy = fresh_copy();
    copy.tags = {{1, 2}};
    EXPECT_EQ(copies.judge(copy, kNow), PeerVerdict::hit);
    shared.store.invalidate(test::of_tag({3, 4}), kNow);
    EXPECT_EQ(copies.judge(copy, kNow), PeerVerdict::hit);
    shared.store.invalidate(test::of_tag({1, 2}), kNow);
    EXPECT_EQ(copies.judge(copy, kNow), PeerVerdict::too_old);
    EXPECT_EQ(copies.judge(fresh_copy(), kNow), PeerVerdict::hit);
    invalidated(0s, job->result.lease.hash());
    EXPECT_EQ(copies.judge(fresh_copy(), kNow), PeerVerdict::too_old);
}

TEST_F(FetchPeersTest, OfABlockGoWithTheirTarget) {
    const summary::KeyHash target{7, 8};
    job->wanted.block = WantedBlock{{100, 199}, 250, {"\"1\"", "0f"}, target};
    EXPECT_EQ(copies.judge(fresh_copy(), kNow), PeerVerdict::hit);
    invalidated(0s, target);
    EXPECT_EQ(copies.judge(fresh_copy(), kNow), PeerVerdict::too_old);
}

}  // namespace fetch_peers_test
}  // namespace proxy
