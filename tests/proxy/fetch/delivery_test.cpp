#include "proxy/fetch/delivery.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/proxy/fetch/idle_cache.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace delivery_test {

using namespace std::chrono_literals;
using Clock = Store::Clock;

/// The delivery of a job that has the lease, and the client that leads.
class DeliveryTest : public ::testing::Test, protected test::IdleCache {
protected:
    DeliveryTest() { job->result.lease.take({}); }

    static StoreCandidate made(StorageVerdict verdict = StorageVerdict::store) {
        StoreCandidate candidate{std::make_shared<StoredResponse>(), verdict};
        candidate.response->status = 200;
        candidate.response->freshness.lifetime = StoredSeconds(60);
        candidate.response->arrival.steady = Clock::now();
        candidate.response->body->add_block(4, {});
        candidate.response->body->append("body");
        return candidate;
    }
    void give(StoreCandidate candidate, Delivery::Sender sender, bool validated = false) {
        delivery->give(std::move(candidate), std::make_shared<LiveFields>(), validated,
                       std::move(sender));
    }
    static Delivery::Sender origin(unsigned status = 200) {
        return {Fill::From::origin, {}, status};
    }
    static Delivery::Sender peer() { return {Fill::From::peer, "b", 200}; }
    void copy_policy(CopyPolicy policy) {
        auto config = std::make_shared<LoadedConfig>(*settings);
        config->cluster->copy = policy;
        job->wanted.request = request(std::move(config));
    }
    Store::Found found() const { return find(key.uri(), Clock::now()); }
    std::uint64_t counted(StorageVerdict verdict) { return counters.verdicts[verdict]; }
    Fill::State state() const { return leader.state(); }

    Fill::Reader leader{job->result.fill, std::make_shared<base::Wakeup>(io.get_executor()), true};
    std::optional<Delivery> delivery{std::in_place, cache, *job};
};

TEST_F(DeliveryTest, GivesWhatIsThereToAllAndToTheStore) {
    give(made(), origin());
    EXPECT_EQ(state().phase, Fill::Phase::complete);
    EXPECT_TRUE(state().incoming.shared);
    EXPECT_EQ(state().incoming.length, 4u);
    ASSERT_NE(found().response, nullptr);
    EXPECT_EQ(counted(StorageVerdict::store), 1u);
}

TEST_F(DeliveryTest, GivesWhatMayNotBeStoredToItsLeaderAlone) {
    const Fill::Reader follower(job->result.fill, std::make_shared<base::Wakeup>(io.get_executor()),
                                false);
    give(made(StorageVerdict::no_store), origin());
    EXPECT_EQ(state().phase, Fill::Phase::complete);
    EXPECT_FALSE(state().released);
    EXPECT_TRUE(follower.state().released);
    EXPECT_EQ(found().response, nullptr);
    EXPECT_TRUE(found().unshareable);
    EXPECT_EQ(counted(StorageVerdict::no_store), 1u);
}

TEST_F(DeliveryTest, SaysWhoGaveIt) {
    give(made(), {Fill::From::peer, "b", 304}, true);
    EXPECT_EQ(state().incoming.from, Fill::From::peer);
    EXPECT_EQ(state().incoming.peer, "b");
    EXPECT_EQ(state().incoming.upstream_status, 304u);
    EXPECT_TRUE(state().incoming.validated);
}

TEST_F(DeliveryTest, StoresNothingThatWasInvalidatedMeanwhile) {
    shared.store.invalidate(job->result.lease.hash(), Store::Clock::now());
    give(made(), origin());
    EXPECT_EQ(found().response, nullptr);
    EXPECT_EQ(counted(StorageVerdict::invalidated), 1u);
}

TEST_F(DeliveryTest, KeepsCopiesOfPeersAsThePolicySays) {
    copy_policy(CopyPolicy::never);
    give(made(), peer());
    EXPECT_EQ(state().phase, Fill::Phase::complete);
    EXPECT_EQ(found().response, nullptr);
    EXPECT_FALSE(found().unshareable) << "that says nothing of the answer";
}

TEST_F(DeliveryTest, KeepsACopyOfTheOriginsAnswerWhateverThePolicy) {
    copy_policy(CopyPolicy::never);
    give(made(), origin());
    EXPECT_NE(found().response, nullptr);
}

TEST_F(DeliveryTest, KeepsACopyOnSecondUseOnlyOfWhatCameFromAPeerBefore) {
    copy_policy(CopyPolicy::second_use);
    give(made(), peer());
    EXPECT_EQ(found().response, nullptr);
    copy_policy(CopyPolicy::second_use);
    job->result.lease.take(found());
    give(made(), peer());
    EXPECT_NE(found().response, nullptr);
}

TEST_F(DeliveryTest, FailsOnceForAllWhoWait) {
    delivery->fail({FetchError::connect_timeout});
    EXPECT_EQ(state().phase, Fill::Phase::failed);
    EXPECT_EQ(state().error, FetchError::connect_timeout);
    EXPECT_EQ(found().fill, nullptr) << "nobody new joins it";
    EXPECT_FALSE(found().unshareable);
    delivery.reset();
    EXPECT_EQ(state().error, FetchError::connect_timeout);
}

TEST_F(DeliveryTest, FailsSoThatWhoAsksNextDoesNotWait) {
    delivery->fail({FetchError::not_in_parts, 200, true});
    EXPECT_TRUE(found().unshareable);
    EXPECT_EQ(state().incoming.upstream_status, 200u);
}

TEST_F(DeliveryTest, OfAJobThatWasGivenUpSaysSo) {
    job->progress.given_up = true;
    delivery->fail({FetchError::reset});
    EXPECT_EQ(state().error, FetchError::abandoned);
}

TEST_F(DeliveryTest, LeavesNobodyWaitingWhenItsFetchIsCancelled) {
    delivery.reset();
    EXPECT_EQ(state().phase, Fill::Phase::failed);
    EXPECT_EQ(state().error, FetchError::stopping);
    EXPECT_EQ(found().fill, nullptr);
}

TEST_F(DeliveryTest, JudgesAHeadByItsFieldsAndABlockByItsKey) {
    const test::Head text("Cache-Control: max-age=0\nSurrogate-Key: t");
    const Fields fields = text;
    Head head;
    head.status = 206;
    head.fields.assign(fields.begin(), fields.end());
    const ReceivedHead from{head, {}, {Clock::now(), {}}};
    EXPECT_NE(delivery->candidate(from).verdict, StorageVerdict::store);
    job->wanted.block = WantedBlock{{100, 199}, 250, {"\"1\"", "0f"}, hasher(key.uri()), {{7, 7}}};
    const auto block = delivery->candidate(from);
    EXPECT_EQ(block.verdict, StorageVerdict::store) << "its index was judged";
    EXPECT_TRUE(is_fresh(block.response->freshness, 24h)) << "its key names the version";
    auto tags = std::vector{hasher(key.uri()), surrogate_tag("t", hasher), {7, 7}};
    std::sort(tags.begin(), tags.end(), precedes);
    EXPECT_EQ(block.response->tags, tags) << "it goes with its target, and with its index";
}

TEST_F(DeliveryTest, StoresNoBlockWhoseHeadForbidsIt) {  // RFC 9111 §5.2.2.5, §5.2.2.7
    job->wanted.block = WantedBlock{{100, 199}, 250, {"\"1\"", "0f"}, hasher(key.uri())};
    const auto verdict = [&](const char* lines) {
        const test::Head text(lines);
        const Fields fields = text;
        Head head;
        head.status = 206;
        head.fields.assign(fields.begin(), fields.end());
        return delivery->candidate({head, {}, {Clock::now(), {}}}).verdict;
    };
    EXPECT_EQ(verdict("Cache-Control: no-store"), StorageVerdict::no_store);
    EXPECT_EQ(verdict("Cache-Control: max-age=9, private"), StorageVerdict::private_);
    EXPECT_EQ(verdict("Cache-Control: must-understand, no-store"), StorageVerdict::store);
    EXPECT_EQ(verdict(""), StorageVerdict::store);
}

}  // namespace delivery_test
}  // namespace proxy
