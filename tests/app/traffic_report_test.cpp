#include "app/traffic_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/exit_codes.hpp"
#include "app/query_commands.hpp"
#include "tests/app/running_nodes.hpp"
#include "tests/measure/captured.hpp"
#include "tests/measure/scripted_server.hpp"

namespace app {
namespace traffic_report_test {

using namespace std::chrono_literals;
using measure::captured;
using measure::nobody;
using measure::Reply;
using measure::ScriptedServer;
using measure::Seen;
using testing::HasSubstr;

const std::string kPage =
    R"({"node": "a", "now": 10000, "span": "15m", "interval_seconds": 5, "points": [
  {"t": 6400, "seconds": 5, "requests": {"local_hit": 1000}, "bytes": {"to_clients": 99999}},
  {"t": 9990, "seconds": 5, "requests": {"local_hit": 6, "peer_hit": 3, "origin_fetch": 1},
   "bytes": {"to_clients": 10240, "from_peers": 3072, "from_origins": 1024},
   "p50_ms": {"local_hit": 0.5, "peer_hit": 2, "origin_fetch": null}},
  {"t": 9995, "seconds": 5, "requests": {"local_hit": 6, "peer_hit": 1, "origin_fetch": 3, "error": 0},
   "bytes": {"to_clients": 10240, "from_peers": 1024, "from_origins": 3072},
   "p50_ms": {"local_hit": 1.5, "peer_hit": 6, "origin_fetch": 30}}]})";

TEST(TrafficReport, SumsTheIntervalsOfTheAskedTime) {
    const auto report = read_traffic(kPage, 1h);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->node, "a");
    EXPECT_EQ(report->recorded_seconds, 10);
    EXPECT_EQ(report->requests[0], 12u);
    EXPECT_EQ(report->requests[1], 4u);
    EXPECT_EQ(report->requests[2], 4u);
    EXPECT_EQ(report->usual_ms(0), 0.5);
    EXPECT_EQ(report->usual_ms(1), 2.0) << "weighted by requests";
    EXPECT_EQ(report->usual_ms(2), 30.0);
    EXPECT_FALSE(report->usual_ms(4));
    EXPECT_EQ(report->to_clients, 20480u);
    EXPECT_EQ(read_traffic(kPage, 2h)->requests[0], 1012u);
}

TEST(TrafficReport, KeepsTheUsualTimeWhenOneIntervalIsSlow) {
    TrafficReport report;
    report.medians[0] = {{10'000, 4}, {0.1, 6}, {0.2, 3}};
    EXPECT_EQ(report.usual_ms(0), 0.2) << "the seventh of thirteen requests";
    report.medians[0] = {{5000, 1}, {0.1, 1}};
    EXPECT_EQ(report.usual_ms(0), 0.1) << "the lower one of two";
    TrafficReport other;
    other.medians[0] = {{7, 100}};
    EXPECT_EQ((report += other).usual_ms(0), 7) << "of several nodes together";
}

TEST(TrafficReport, SaysWhatTheStoreAndPeersSaved) {
    EXPECT_EQ(traffic_text(*read_traffic(kPage, 1h)),
              "node a, 10 s recorded\n"
              "  requests       20: 60.0 % from the own store, 20.0 % from peers, 20.0 % from "
              "origins, 0.0 % past the cache, 0.0 % errors, 0.0 % refused\n"
              "  usual time     0.50 ms from the own store, 2.00 ms from a peer, 30.00 ms from an "
              "origin (median of the intervals' medians, weighted by requests)\n"
              "  to clients     20 KiB; origins sent 4 KiB\n"
              "  saved in all   16 requests, 16 KiB (80.0 % of the bytes)\n"
              "  by sharing     4 requests, 4 KiB came from peers\n");
    TrafficReport one;
    one.recorded_seconds = 1;
    one.requests[1] = 1;
    EXPECT_THAT(traffic_text(one), HasSubstr("saved in all   1 request, "));
    EXPECT_THAT(traffic_text(one), HasSubstr("by sharing     1 request, "));
    EXPECT_THAT(traffic_text({}), HasSubstr("nothing is recorded yet; try --since 15m"));
}

TEST(TrafficReport, AddsUpNodesAsJson) {
    const auto one = *read_traffic(kPage, 1h);
    const auto page = nlohmann::json::parse(traffic_json({one, one}, 1h));
    EXPECT_EQ(page["since_seconds"], 3600.0);
    ASSERT_EQ(page["nodes"].size(), 2u);
    EXPECT_EQ(page["nodes"][0]["node"], "a");
    EXPECT_EQ(page["together"]["requests"]["peer_hit"], 8);
    EXPECT_EQ(page["together"]["recorded_seconds"], 10.0) << "nodes run side by side";
    EXPECT_EQ(page["together"]["saved"]["bytes"], 32768);
    EXPECT_EQ(page["together"]["saved"]["bytes_by_peers"], 8192);
    EXPECT_EQ(page["together"]["usual_ms"]["peer_hit"], 2.0);
    EXPECT_TRUE(page["together"]["usual_ms"]["error"].is_null());
}

TEST(TrafficReport, RefusesOtherPages) {
    for (const auto* page : {"", "{", "[]", "{}", R"({"node": "a"})",
                             R"({"node": 1, "points": []})", R"({"node": "a", "points": 1})"})
        EXPECT_FALSE(read_traffic(page, 1h)) << page;
    const auto odd = read_traffic(
        R"({"node": "a", "now": 5, "points": [1, {"t": 5, "requests": 3, "seconds": "x"}]})", 1h);
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->requests[0], 0u);
}

TEST(TrafficReport, AsksForTheSpanThatCoversTheTime) {
    EXPECT_EQ(span_for(15min), "15m");
    EXPECT_EQ(span_for(16min), "6h");
    EXPECT_EQ(span_for(24h), "7d");
}

TEST(ReportCommand, PrintsEachNodeAndAllTogether) {
    const auto server = [](const Seen&) {
        return Reply{"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + kPage, true};
    };
    const ScriptedServer one(server), other(server);
    const std::vector<NodeChoice> both{{one.address().text(), {}}, {other.address().text(), {}}};
    const auto ended = captured([&] { return report_command(both, "15m", false); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("together, 10 s recorded\n  requests       40:"));
    const auto json = captured([&] { return report_command(both, "15m", true); });
    EXPECT_EQ(nlohmann::json::parse(json.out)["nodes"].size(), 2u);
}

TEST(ReportCommand, ReadsARealNode) {
    const auto node = run_by(configuration("a", 7));
    const auto ended = captured([] {
        return report_command({{own_address(7), {}}}, "24h", false);
    });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("node a: nothing is recorded yet; try --since 15m"));
}

TEST(ReportCommand, NamesItsFaults) {
    const auto bad = captured([] { return report_command({{}}, "8d", false); });
    EXPECT_EQ(bad.code, kUsage);
    EXPECT_THAT(bad.error, HasSubstr("--since"));
    EXPECT_EQ(captured([] { return report_command({{}}, "soon", false); }).code, kUsage);
    const auto away = captured([] {
        return report_command({{nobody().text(), {}}}, "24h", false);
    });
    EXPECT_EQ(away.code, kFailed);
    EXPECT_THAT(away.error, HasSubstr("no node answers at"));
    const ScriptedServer other([](const Seen&) {
        return Reply{"HTTP/1.0 200 OK\r\n\r\nhello\n", true};
    });
    const auto strange = captured([&] {
        return report_command({{other.address().text(), {}}}, "24h", false);
    });
    EXPECT_EQ(strange.code, kFailed);
    EXPECT_THAT(strange.error, HasSubstr("not that of a hearsay node"));
}

}  // namespace traffic_report_test
}  // namespace app
