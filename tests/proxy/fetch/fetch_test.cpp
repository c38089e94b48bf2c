#include "proxy/fetch/fetch.hpp"

#include <gtest/gtest.h>

#include <span>

#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace fetch_test {

using namespace std::chrono_literals;
using Clock = Store::Clock;

/// A fetch as far as it gets without a connection: no peer is known, and the origin has none left.
class FetchTest : public ::testing::Test, protected test::IdleCache {
protected:
    FetchTest() { job->result.lease.take({}); }

    void fetch() {
        start_fetch(cache, std::move(job));
        io.poll();
    }
    /// Something stale is stored that may stand in for an origin that cannot be reached.
    void store_stand_in(std::chrono::nanoseconds age = 100s) {
        auto stale = std::make_shared<StoredResponse>();
        stale->status = 200;
        stale->arrival.steady = Clock::now() - age;
        stale->freshness.lifetime = StoredSeconds(60);
        stale->freshness.source = LifetimeSource::max_age;
        job->from.stale = std::move(stale);
    }
    void origin_took_no_connection(Clock::time_point last) {
        const auto where = connection_key(*job->wanted.request->origin());
        for (unsigned i = 0; i < kOriginTimeouts; ++i)
            upstream.origin_health.ended(where, OriginHealth::End::not_connected, last - 1s, last);
    }
    FetchError error() const {
        const auto state = leader.state();
        return state.phase == Fill::Phase::failed ? state.error : FetchError::none;
    }
    /// Nobody new joins it, and the next one fetches.
    bool claim_has_ended() const { return find(key.uri(), Clock::now()).fill == nullptr; }

    Fill::Reader leader{job->result.fill, std::make_shared<base::Wakeup>(io.get_executor()), true};
};

TEST_F(FetchTest, FailsWhereThereIsNobodyToAsk) {
    job->wanted.request = request_without_site();
    fetch();
    EXPECT_EQ(error(), FetchError::not_allowed);
    EXPECT_TRUE(claim_has_ended());
    EXPECT_EQ(counters.origin_requests, 0u);
}

TEST_F(FetchTest, LeavesASuffixThatNoPeerHasToTheClientsOwnRequest) {
    job->wanted.part = WantedPart{parse_range("bytes=-100")};
    fetch();
    EXPECT_EQ(error(), FetchError::not_in_parts);
    EXPECT_EQ(counters.origin_requests, 0u);
}

TEST_F(FetchTest, SaysWhyTheOriginWasNotAsked) {
    fetch();
    EXPECT_EQ(error(), FetchError::busy);
    EXPECT_TRUE(claim_has_ended());
    EXPECT_FALSE(find(key.uri(), Clock::now()).unshareable) << "the next one may be luckier";
}

TEST_F(FetchTest, DoesNotAskAnOriginThatIsDown) {
    origin_took_no_connection(Clock::now());
    fetch();
    EXPECT_EQ(error(), FetchError::origin_down);
    EXPECT_EQ(counters.origin_down_requests, 1u);
    EXPECT_EQ(counters.origin_requests, 0u);
}

TEST_F(FetchTest, LetsTheFirstFindOutWhetherTheOriginIsBack) {
    origin_took_no_connection(Clock::now() - kOriginPauseFirst);
    fetch();
    EXPECT_EQ(error(), FetchError::busy) << "having nothing, it waits for what comes of that";
    EXPECT_EQ(counters.origin_requests, 1u);
}

TEST_F(FetchTest, FindsOutBehindAnAnswerThatSomethingStoredGivesMeanwhile) {
    store_stand_in();
    origin_took_no_connection(Clock::now() - kOriginPauseFirst);
    fetch();
    EXPECT_EQ(error(), FetchError::origin_down) << "nobody waits";
    EXPECT_EQ(counters.origin_requests, 1u) << "but it is asked";
}

TEST_F(FetchTest, OfWhatIsTooOldToStandInWaitsForTheOrigin) {
    store_stand_in(61s + settings->cache.rules.stale_when_unreachable);
    origin_took_no_connection(Clock::now() - kOriginPauseFirst);
    fetch();
    EXPECT_EQ(error(), FetchError::busy);
}

TEST_F(FetchTest, LeavesWhatIsStoredWhenItFails) {
    put(key.uri(), "", "body", Clock::now());
    store_stand_in();
    fetch();
    EXPECT_NE(find(key.uri(), Clock::now()).response, nullptr);
}

TEST_F(FetchTest, DoesNotBeginInAWorkerThatStops) {
    upstream.fetches.close();
    fetch();
    EXPECT_EQ(error(), FetchError::stopping);
    EXPECT_TRUE(claim_has_ended());
}

TEST_F(FetchTest, LeavesNobodyWaitingWhenItIsCancelledBeforeItBegan) {
    start_fetch(cache, std::move(job));
    upstream.fetches.cancel();
    io.poll();
    EXPECT_NE(error(), FetchError::none);
    EXPECT_TRUE(claim_has_ended());
    EXPECT_EQ(upstream.fetches.size(), 0u);
}

}  // namespace fetch_test
}  // namespace proxy
