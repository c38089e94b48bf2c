#include "measure/report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/measure/report_fixture.hpp"

namespace measure {
namespace report_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Report, AddsUpItsRows) {
    const auto all = totals_of(two_proxies());
    EXPECT_TRUE(all.by_counters);
    EXPECT_EQ(all.requests, 200u);
    EXPECT_EQ(all.local_hits, 100u);
    EXPECT_EQ(all.peer_hits, 26u);
    EXPECT_EQ(all.origin_fetches, 74u);
    EXPECT_EQ(all.false_hits, 1u);
    EXPECT_EQ(all.body_bytes, 200'000u);
    EXPECT_EQ(all.local_bytes, 100'000u);
    EXPECT_EQ(all.peer_bytes, 26'000u);
}

TEST(Report, ComparesWhatWasFoundWithTheIdeal) {
    EXPECT_DOUBLE_EQ(found_of_ideal(two_proxies()), 126.0 / 130);
    EXPECT_EQ(found_of_ideal(Report{}), 0);
}

TEST(Report, TrustsClientsWhenTheCountersAreNotComplete) {
    auto report = two_proxies();
    report.rows[0].counted->local_hit = 1;
    EXPECT_EQ(figures_of(report.rows[0]).local_hits, 1u);
    report.rows[0].restarts = 1;
    EXPECT_EQ(figures_of(report.rows[0]).local_hits, 60u);
    EXPECT_FALSE(totals_of(report).by_counters);
    report.rows[0].restarts = 0;
    report.rows[0].silent_at_end = true;
    EXPECT_EQ(figures_of(report.rows[0]).local_hits, 60u);
    report.rows[0].counted.reset();
    EXPECT_EQ(figures_of(report.rows[0]).local_hits, 60u);
    EXPECT_EQ(figures_of(report.rows[0]).false_hits, 0u);
}

TEST(Report, CountsErrorsThatNeverReachedTheProxy) {
    auto report = two_proxies();
    report.rows[0].seen.failures[0] = 3;
    EXPECT_EQ(figures_of(report.rows[0]).errors, 3u);
    report.rows[0].counted->error = 5;
    EXPECT_EQ(figures_of(report.rows[0]).errors, 5u);
}

TEST(Report, ComparesMessagesWithIcp) {
    const auto traffic = traffic_of(two_proxies());
    ASSERT_TRUE(traffic);
    EXPECT_EQ(traffic->announcements, 8u);
    EXPECT_EQ(traffic->heartbeats, 8u);
    EXPECT_EQ(traffic->link_bytes, 1600u);
    EXPECT_EQ(traffic->false_hits, 1u);
    EXPECT_EQ(traffic->origin_requests, 74u);
    EXPECT_EQ(traffic->icp_messages, 200u);  // 100 local misses, 2 messages each
    EXPECT_DOUBLE_EQ(traffic->icp_bytes, 200 * 53.0);
}

TEST(Report, KnowsNoTrafficWhenAProxyWasNotAsked) {
    auto report = two_proxies();
    report.rows[1].counted.reset();
    EXPECT_FALSE(traffic_of(report));
}

TEST(Report, BalancesTheBooks) {
    const auto verdict = books_of(two_proxies());
    EXPECT_TRUE(verdict.balanced());
    EXPECT_EQ(verdict.books.size(), 2u);
    EXPECT_THAT(verdict.broken, IsEmpty());
}

TEST(Report, FindsBooksThatDoNotBalance) {
    auto report = two_proxies();
    report.rows[1].counted->peers[0].served = 15;
    const auto verdict = books_of(report);
    EXPECT_FALSE(verdict.balanced());
    ASSERT_EQ(verdict.broken.size(), 1u);
    EXPECT_EQ(verdict.broken[0].asker, "a");
    EXPECT_EQ(verdict.broken[0].giver, "b");
}

TEST(Report, DoesNotCallBooksBalancedThatItCouldNotCheck) {
    auto report = two_proxies();
    report.rows[1].restarts = 1;
    EXPECT_FALSE(books_of(report).balanced());
    EXPECT_THAT(books_of(report).unknown, ElementsAre("b was restarted"));
    report.rows[1].restarts = 0;
    report.rows[1].silent_at_end = true;
    EXPECT_THAT(books_of(report).unknown, ElementsAre("b did not answer at the end"));
    report.rows[1].counted.reset();
    EXPECT_THAT(books_of(report).unknown, ElementsAre("b was not asked"));
    EXPECT_FALSE(books_of(Report{}).balanced());
}

TEST(Report, ShowsWhereCountersAndClientsDisagree) {
    auto report = two_proxies();
    EXPECT_THAT(disagreements(report), IsEmpty());
    report.rows[1].counted->peer_hit = 11;
    EXPECT_THAT(disagreements(report), ElementsAre("b: peer hits 11 counted, 10 seen by clients"));
    report.rows[1].restarts = 1;
    EXPECT_THAT(disagreements(report), IsEmpty());
}

TEST(Report, SaysThatOthersUsedTheCaches) {
    const std::vector<HostPort> proxies{{"10.0.0.1", 3128}, {"10.0.0.2", 3128}}, admins;
    auto report = two_proxies();
    doubt(report, proxies, admins);
    EXPECT_THAT(report.warnings, IsEmpty());
    report.rows[1].counted->total += 1200;
    report.stopped = true;  // the proxy counts requests in progress, which the client never saw
    doubt(report, proxies, admins);
    EXPECT_THAT(report.warnings, IsEmpty());
    report.stopped = false;
    doubt(report, proxies, admins);
    EXPECT_THAT(report.warnings,
                ElementsAre("other clients used the caches meanwhile (requests: b 1,200)"));
}

}  // namespace report_test
}  // namespace measure
