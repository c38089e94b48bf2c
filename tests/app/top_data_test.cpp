#include "app/top_data.hpp"

#include <gtest/gtest.h>

#include "tests/app/top_answers.hpp"

namespace app {
namespace top_data_test {

using namespace std::chrono_literals;

TopData data_of(const std::string& json = kTopNodes) {
    std::string why;
    auto data = read_top_nodes(json, why);
    EXPECT_TRUE(data) << why;
    return data.value_or(TopData());
}

TEST(TopData, HasNodesWithTheirCountsAndLinks) {
    const auto data = data_of();
    EXPECT_EQ(data.node, "a");
    EXPECT_EQ(data.uptime_seconds, 7300);
    ASSERT_EQ(data.nodes.size(), 3u);
    const auto& a = data.nodes[0];
    EXPECT_TRUE(a.self);
    EXPECT_EQ(a.requests.total(), 1000u);
    EXPECT_EQ(a.saved_bytes, 2u << 20);
    EXPECT_EQ(a.memory, 0.5);
    EXPECT_EQ(a.disk, 0) << "a node without a disk";
    ASSERT_EQ(a.links.size(), 2u);
    EXPECT_EQ(a.links[1].state, "gone");
    EXPECT_EQ(data.nodes[2].state, "down");
    EXPECT_EQ(data.nodes[2].requests.total(), 0u) << "a node without a report";
}

TEST(TopData, RefusesWhatIsNoListOfNodes) {
    for (const auto* json : {"", "{", "[]", "{}", R"({"nodes": 3})", R"({"nodes": []})", "null"}) {
        std::string why;
        EXPECT_FALSE(read_top_nodes(json, why)) << json;
        EXPECT_FALSE(why.empty());
    }
    EXPECT_EQ(data_of(R"({"nodes": [3, null, {"links": [1], "requests": "x"}]})").nodes.size(), 3u)
        << "odd members are empty nodes";
}

TEST(TopData, HasTheLastIntervalOfTheHistory) {
    auto data = data_of();
    read_top_history(kTopHistory, data);
    EXPECT_EQ(data.last.seconds, 5);
    EXPECT_EQ(data.last.requests.total(), 650u);
    EXPECT_EQ(data.last.peer_hit.p50_ms, 2.5);
    EXPECT_FALSE(data.last.origin_fetch.p99_ms);
    auto none = data_of();
    read_top_history(R"({"interval_seconds": 5, "points": []})", none);
    EXPECT_EQ(none.last.seconds, 0);
}

TEST(TopData, ShowsNoControlCharactersOfUrls) {
    auto data = data_of();
    read_top_urls(200, kTopUrls, data);
    ASSERT_EQ(data.urls.size(), 2u);
    EXPECT_EQ(data.urls[1].url, "http://h/\\x1b[31mred");
    EXPECT_TRUE(data.urls_note.empty());
}

TEST(TopData, LeavesOutUrlsWhoseCountMayBeAnError) {
    TopData data;
    read_top_urls(200, R"({"urls": [{"url": "http://h/a", "requests": 160, "at_most_too_many": 79},
                                    {"url": "http://h/b", "requests": 160, "at_most_too_many": 80}]})",
                  data);
    ASSERT_EQ(data.urls.size(), 1u);
    EXPECT_EQ(data.urls[0].url, "http://h/a");
    EXPECT_EQ(data.urls_note, "1 URL left out, as half of the count or more may be an error");
}

TEST(TopData, SaysWhyThereAreNoUrls) {
    const auto note = [](unsigned status, const std::string& json) {
        TopData data;
        read_top_urls(status, json, data);
        EXPECT_TRUE(data.urls.empty());
        return data.urls_note;
    };
    EXPECT_NE(note(401, "x").find("HEARSAY_ADMIN_TOKEN"), std::string::npos);
    EXPECT_NE(note(403, "x").find("loopback"), std::string::npos);
    EXPECT_NE(note(200, R"({"off": true})").find("admin.top_urls"), std::string::npos);
    EXPECT_EQ(note(200, R"({"urls": []})"), "none yet");
    EXPECT_EQ(note(0, ""), "the node does not list them");
}

class Rates : public testing::Test {
protected:
    /// The rate after a reading with this total, so many seconds after the first one, in a report
    /// of such an age.
    std::optional<double> rate(std::uint64_t total, int second, double age = 0, bool self = false) {
        TopData data;
        data.nodes.emplace_back();
        data.nodes[0].node = "n";
        data.nodes[0].self = self;
        data.nodes[0].age_seconds = age;
        data.nodes[0].requests.local_hit = total;
        rates_.see(data, TopRates::Clock::time_point(1h) + std::chrono::seconds(second));
        return data.nodes[0].rate;
    }

private:
    TopRates rates_;
};

TEST_F(Rates, AreUnknownAtFirstAndAfterARestart) {
    EXPECT_FALSE(rate(1000, 0));
    EXPECT_EQ(rate(1500, 5), 100);
    EXPECT_FALSE(rate(10, 10)) << "the node counts from 0 again";
    EXPECT_EQ(rate(20, 15), 2);
}

TEST_F(Rates, HoldUntilTheNextReportOfAnotherNode) {
    rate(1000, 0);
    EXPECT_EQ(rate(1500, 5), 100);
    EXPECT_EQ(rate(1500, 6, 1), 100) << "no report has come since";
    EXPECT_EQ(rate(2500, 10), 200) << "over the five seconds since the last report";
    EXPECT_EQ(rate(2500, 15), 0) << "a report has come, and nothing was requested";
    EXPECT_FALSE(rate(2500, 31, 16)) << "no report comes any more";
}

TEST_F(Rates, AreOverTheTimeBetweenTwoReports) {
    EXPECT_FALSE(rate(1000, 0, 4));
    EXPECT_FALSE(rate(1000, 1, 4.9)) << "it is the same report";
    EXPECT_EQ(rate(1500, 2, 1), 100) << "of five seconds, though it came after two";
    EXPECT_EQ(rate(2000, 8, 2), 100);
}

TEST_F(Rates, OfTheAskedNodeCountEachSecond) {
    rate(1000, 0, 0, true);
    EXPECT_EQ(rate(1100, 1, 0, true), 100);
    EXPECT_EQ(rate(1100, 2, 0, true), 0);
}

}  // namespace top_data_test
}  // namespace app
