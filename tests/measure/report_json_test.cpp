#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/report/report.hpp"
#include "tests/measure/report_fixture.hpp"

namespace measure {
namespace report_json_test {

nlohmann::json json_of(const Report& report) {
    const auto text = report_json(report);
    EXPECT_EQ(text.back(), '\n');
    return nlohmann::json::parse(text);
}

TEST(ReportJson, HoldsTheFiguresOfTheTable) {
    const auto json = json_of(two_proxies());
    EXPECT_EQ(json["sent"], 200);
    EXPECT_EQ(json["skipped"]["https: URL"], 10);
    EXPECT_EQ(json["proxies"].size(), 2u);
    EXPECT_EQ(json["proxies"][0]["proxy"], "a");
    EXPECT_EQ(json["proxies"][0]["by"], "counters");
    EXPECT_EQ(json["proxies"][0]["local_hits"], 60);
    EXPECT_EQ(json["proxies"][0]["peer_hits"], 16);
    EXPECT_EQ(json["proxies"][0]["false_hits"], 1);
    EXPECT_EQ(json["proxies"][0]["announcements_sent"], 5);
    EXPECT_DOUBLE_EQ(json["proxies"][0]["local_byte_ratio"], 0.6);
    EXPECT_EQ(json["all"]["requests"], 200);
    EXPECT_DOUBLE_EQ(json["all"]["hit_ratio"], 0.63);
    EXPECT_DOUBLE_EQ(json["ideal"]["shared_hit_ratio"], 0.65);
    EXPECT_DOUBLE_EQ(json["found_of_ideal"], 126.0 / 130);
    EXPECT_EQ(json["latency"]["peer_hit"]["count"], 26);
    EXPECT_NEAR(json["latency"]["origin_fetch"]["p99_ms"], 30, 1);
    EXPECT_EQ(json["traffic"]["icp_messages"], 200);
    EXPECT_DOUBLE_EQ(json["traffic"]["messages_per_request"], 9.0 / 200);
    EXPECT_EQ(json["books"]["balanced"], true);
    EXPECT_EQ(json["books"]["pairs"], 2);
    EXPECT_EQ(json["built_in_origin_requests"], 74);
}

TEST(ReportJson, NamesTrouble) {
    auto report = two_proxies();
    report.rows[0].seen.failures[static_cast<std::size_t>(RequestFailure::timeout)] = 4;
    report.rows[1].counted->peers[0].served = 15;
    report.first_failure = "the first";
    const auto json = json_of(report);
    EXPECT_EQ(json["proxies"][0]["failures"]["no answer in time"], 4);
    EXPECT_EQ(json["books"]["balanced"], false);
    EXPECT_EQ(json["books"]["broken"][0]["asker"], "a");
    EXPECT_EQ(json["books"]["broken"][0]["given"], 15);
    EXPECT_EQ(json["first_failure"], "the first");
    EXPECT_EQ(json["disagreements"].size(), 1u);
}

TEST(ReportJson, LeavesOutFiguresThatNoNodeCounted) {
    auto report = two_proxies();
    report.rows[0].counted.reset();
    report.origin_requests.reset();
    const auto json = json_of(report);
    EXPECT_FALSE(json.contains("traffic"));
    EXPECT_FALSE(json.contains("built_in_origin_requests"));
    EXPECT_EQ(json["proxies"][0]["by"], "clients");
    EXPECT_FALSE(json["proxies"][0].contains("announcements_sent"));
    EXPECT_EQ(json["books"]["not_checked"][0], "a was not asked");
}

TEST(ReportJson, SurvivesBytesThatAreNoText) {
    auto report = two_proxies();
    report.first_failure = "for http://a/\xe4\xff";
    EXPECT_NE(report_json(report).find("http://a/"), std::string::npos);
    json_of(report);
}

}  // namespace report_json_test
}  // namespace measure
