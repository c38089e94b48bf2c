#include "measure/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace measurement_test {

using namespace std::chrono_literals;

/// A proxy with every object, whose admin page reports the requests that it has counted.
class CountingProxy {
public:
    HostPort address() const { return proxy_.address(); }
    HostPort admin() const { return admin_.address(); }
    std::atomic<int> before{1000};  ///< requests it had answered when the test began
    std::string peer_state = "in_step";
    std::string admin_name = "n";  ///< the name the admin page gives
    int objects = 0;               ///< in the cache all the time
    std::string names;             ///< behind which it looks for peers
    /// Looks at its status in which its question to the peer has no end.
    mutable std::atomic<int> under_way{0};
    std::string disk;  ///< its directories
    int disk_objects = 0;

private:
    Reply status() const {
        const auto total = std::to_string(before + answered_);
        const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - start_;
        return {"HTTP/1.0 200 OK\r\n\r\n{\"node\": \"" + admin_name +
                    "\", \"ready\": true, \"cache\": {\"objects\": " + std::to_string(objects) +
                    ", \"disk_objects\": " + std::to_string(disk_objects) + ", \"disk\": [" + disk +
                    "]}, \"uptime_seconds\": " + std::to_string(uptime.count()) +
                    ", \"requests\": {\"total\": " + total + ", \"local_hit\": " + total +
                    "}, \"cluster\": {\"peers\": [{\"node\": \"b\", \"asked\": 1, \"hits\": " +
                    (under_way-- > 0 ? "0" : "1") + ", \"state\": \"" + peer_state +
                    "\"}], \"names\": [" + names + "]}}",
                true};
    }

    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::atomic<int> answered_{0};
    ScriptedServer proxy_{[this](const Seen& seen) {
        ++answered_;
        return Reply{like_the_origin(seen, "Cache-Status: n; hit\r\n")};
    }};
    ScriptedServer admin_{[this](const Seen&) { return status(); }};
};

Trace five_requests() {
    Trace trace;
    trace.source = "five";
    trace.clients = {1};
    for (int i = 0; i < 5; ++i) trace.add({0, 0, trace.add_url("http://a/", 100), kGet});
    trace.lines = 6;
    trace.skipped["CONNECT"] = 1;
    return trace;
}

TEST(Measure, CountsOnlyWhatTheReplayDid) {
    const CountingProxy proxy;
    MeasureOptions options;
    options.replay.proxies = {proxy.address()};
    options.admins = {proxy.admin()};
    Progress quiet(true);
    const Report report = measure(five_requests(), options, quiet);
    ASSERT_EQ(report.rows.size(), 1u);
    EXPECT_EQ(report.rows[0].name, "n");
    ASSERT_TRUE(report.rows[0].counters_complete());
    EXPECT_EQ(report.rows[0].counted->total, 5u);
    EXPECT_EQ(report.rows[0].counted->local_hit, 5u);
    EXPECT_EQ(report.rows[0].seen.answered(), 5u);
    EXPECT_EQ(report.ideal.total.shared_hits, 4u);
    EXPECT_THAT(disagreements(report), testing::IsEmpty());
    EXPECT_EQ(report.sent, 5u);
    EXPECT_EQ(report.lines, 6u);
    EXPECT_EQ(report.skipped.at("CONNECT"), 1u);
}

Report measure_through(const CountingProxy& proxy) {
    MeasureOptions options;
    options.replay.proxies = {proxy.address()};
    options.admins = {proxy.admin()};
    Progress quiet(true);
    return measure(five_requests(), options, quiet);
}

TEST(Measure, NoticesTheAdminAddressOfAnotherNode) {
    CountingProxy proxy;
    proxy.admin_name = "other";
    const auto report = measure_through(proxy);
    EXPECT_FALSE(report.rows[0].counted);  // the counts belong to another proxy
    EXPECT_EQ(report.rows[0].name, "n");
    ASSERT_FALSE(report.warnings.empty());
    EXPECT_THAT(report.warnings[0],
                testing::HasSubstr(proxy.admin().text() + " is that of node other"));
    EXPECT_THAT(report.warnings[0], testing::HasSubstr(proxy.address().text() + " is node n"));
    EXPECT_THAT(report_text(report, false), testing::HasSubstr("NOTE: the admin address"));
}

TEST(Measure, SaysThatACacheWasNotEmpty) {
    CountingProxy proxy;
    proxy.objects = 1234;
    const auto report = measure_through(proxy);
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_THAT(report.warnings[0], testing::HasSubstr("not empty"));
    EXPECT_THAT(report.warnings[0], testing::HasSubstr("n 1,234"));
}

TEST(Measure, BeginsWhenNoNodeWaitsForAnother) {
    CountingProxy proxy;
    proxy.under_way = 4;
    const auto report = measure_through(proxy);
    EXPECT_LT(proxy.under_way, 0);
    ASSERT_EQ(report.rows[0].counted->peers.size(), 1u);
    EXPECT_EQ(report.rows[0].counted->peers[0].hits, 0u);  // of a question before the replay
}

TEST(Measure, OfALaterPartExpectsWhatCameBeforeInTheCaches) {
    CountingProxy proxy;
    proxy.objects = 1;
    MeasureOptions options;
    options.replay.proxies = {proxy.address()};
    options.replay.part = {2, 4};
    options.admins = {proxy.admin()};
    Progress quiet(true);
    const auto report = measure(five_requests(), options, quiet);
    EXPECT_EQ(report.sent, 2u);
    EXPECT_EQ(report.rows[0].seen.answered(), 2u);
    EXPECT_EQ(report.ideal.total.shared_hits, 2u);
    EXPECT_THAT(report.warnings, testing::IsEmpty());
}

TEST(Measure, CountsWhatIsOnDiskAmongWhatTheCacheHeld) {
    CountingProxy proxy;
    proxy.disk_objects = 1234;
    EXPECT_EQ(measure_through(proxy).rows[0].objects_before, 1234u);
}

TEST(Measure, NoticesThatMoreWasFoundThanCanBe) {
    const CountingProxy proxy;  // which claims to have everything
    const auto report = measure_through(proxy);
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_THAT(report.warnings[0], testing::HasSubstr("more hits than the log repeats"));
}

TEST(Measure, DoesWithoutAdminPorts) {
    const CountingProxy proxy;
    MeasureOptions options;
    options.replay.proxies = {proxy.address()};
    options.replay.rate = 1000;
    options.replay.failover = true;
    Progress quiet(true);
    const Report report = measure(five_requests(), options, quiet);
    EXPECT_EQ(report.rows[0].name, proxy.address().text());
    EXPECT_FALSE(report.rows[0].counted);
    EXPECT_EQ(totals_of(report).local_hits, 5u);
    EXPECT_EQ(report.pace, "1000 requests/s, failover");
    EXPECT_EQ(report.title, "five");
}

TEST(WaitUntilInStep, IsDoneWhenAllAre) {
    const CountingProxy a, b;
    Progress quiet(true);
    EXPECT_EQ(wait_until_in_sync({a.admin(), b.admin()}, 10s, quiet), "");
}

TEST(WaitUntilInStep, SaysWhatIsMissing) {
    CountingProxy proxy;
    proxy.peer_state = "connecting";
    Progress quiet(true);
    EXPECT_EQ(wait_until_in_sync({proxy.admin()}, 0s, quiet),
              "n and its peer b are not in step (connecting)");
    const HostPort gone = nobody();
    EXPECT_EQ(wait_until_in_sync({gone}, 0s, quiet), gone.text() + ": Connection refused");
}

TEST(WaitUntilInStep, WaitsForThoseWhoLookForOneAnother) {
    CountingProxy a, b;
    a.admin_name = "a";
    b.admin_name = "b";
    Progress quiet(true);
    EXPECT_EQ(wait_until_in_sync({a.admin(), b.admin()}, 0s, quiet), "") << "b need not know a";
    b.names = R"({"dns": "x"})";
    EXPECT_EQ(wait_until_in_sync({a.admin(), b.admin()}, 0s, quiet), "b has not found a yet");
}

TEST(WaitUntilInStep, WaitsForDisksThatAreBeingRead) {
    CountingProxy proxy;
    proxy.disk = R"({"path": "/a", "state": "ready"}, {"path": "/b", "state": "loading"})";
    Progress quiet(true);
    EXPECT_EQ(wait_until_in_sync({proxy.admin()}, 0s, quiet), "n is still reading /b");
    proxy.disk = R"({"path": "/a", "state": "ready"}, {"path": "/b", "state": "off"})";
    EXPECT_EQ(wait_until_in_sync({proxy.admin()}, 0s, quiet), "");
}

TEST(WaitUntilInStep, EndsWhenThereIsAReason) {
    Progress quiet(true);
    EXPECT_EQ(wait_until_in_sync({nobody()}, 1h, quiet, [] { return "enough"; }), "enough");
}

}  // namespace measurement_test
}  // namespace measure
