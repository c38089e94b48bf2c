#include "proxy/admin/view_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proxy/config/parse_config.hpp"

namespace proxy {
namespace view_json_test {

using namespace std::chrono_literals;
using nlohmann::json;

TEST(ViewJson, HistoryShowsSteadyTimesAsWallTime) {
    const ClockPair now{std::chrono::steady_clock::time_point(1000s),
                        std::chrono::system_clock::time_point(1'800'000'000s)};
    HistoryPoint point;
    point.end = now.steady - 10s;
    point.seconds = 5;
    point.requests[0] = 3;
    point.p50_ms[0] = 1.5;
    point.p50_ms[1] = -1;
    point.all_p50_ms = 2.5;
    point.from_peers = 70;
    const auto page = json::parse(history_json("a", Span::hours_6, 60s, {point}, now));
    EXPECT_EQ(page["node"], "a");
    EXPECT_EQ(page["now"], 1'800'000'000.0);
    EXPECT_EQ(page["span"], "6h");
    EXPECT_EQ(page["interval_seconds"], 60);
    const auto& shown = page["points"].at(0);
    EXPECT_EQ(shown["t"], 1'799'999'990.0);
    EXPECT_EQ(shown["requests"]["local_hit"], 3);
    EXPECT_EQ(shown["p50_ms"]["local_hit"], 1.5);
    EXPECT_TRUE(shown["p50_ms"]["peer_hit"].is_null());
    EXPECT_EQ(shown["p50_ms"]["all"], 2.5);
    EXPECT_TRUE(shown["p99_ms"]["all"].is_null());
    EXPECT_EQ(shown["bytes"]["from_peers"], 70);
}

TEST(ViewJson, ErrorsMayHoldAnyBytes) {
    const RecentErrors::Line line{std::chrono::system_clock::time_point(5s), true, "a \xff\"<b>"};
    const auto page = json::parse(recent_errors_json({line}));
    EXPECT_EQ(page["errors"][0]["t"], 5.0);
    EXPECT_EQ(page["errors"][0]["level"], "error");
    EXPECT_EQ(page["errors"][0]["text"], "a \xef\xbf\xbd\"<b>");
}

TEST(ViewJson, TopListsThatAreOffAreNull) {
    EXPECT_EQ(json::parse(top_json({})), json({{"off", true}}));
    TopLists lists;
    lists.has_urls = true;
    lists.urls = {{"http://a.test/", 48, 16}};
    const auto page = json::parse(top_json(lists));
    EXPECT_EQ(page["urls"][0]["url"], "http://a.test/");
    EXPECT_EQ(page["urls"][0]["requests"], 48);
    EXPECT_EQ(page["urls"][0]["at_most_too_many"], 16);
    EXPECT_TRUE(page["clients"].is_null());
}

TEST(ViewJson, SitesHaveEveryOutcome) {
    SiteTotals totals;
    totals.sites["a.test"].requests[Outcome::peer_hit] = 2;
    totals.rules["images"].bytes_to_clients = 9;
    const auto page = json::parse(sites_json(totals));
    EXPECT_EQ(page["sites"][0]["site"], "a.test");
    EXPECT_EQ(page["sites"][0]["requests"]["peer_hit"], 2);
    EXPECT_EQ(page["sites"][0]["requests"].size(), 6u);
    EXPECT_EQ(page["rules"][0]["rule"], "images");
    EXPECT_EQ(page["rules"][0]["bytes_to_clients"], 9);
}

json setting(const json& page, const std::string& name) {
    for (const auto& each : page["settings"])
        if (each["name"] == name) return each;
    return {};
}

TEST(ViewJson, SettingsHaveValueDefaultAndSource) {
    const auto read = parse_config(R"({"node": "a", "listen": "127.0.0.1:3128",
        "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}],
        "cache": {"memory": "64MiB"},
        "admin": {"token": "0123456789abcdef"},
        "cluster": {"listen": "127.0.0.1:3129", "key": "0123456789abcdef0123456789abcdef", "peers": []}})",
                                   [](const std::string&) { return std::nullopt; });
    ASSERT_TRUE(read.config && read.errors.empty()) << describe(read.errors);
    const auto text = settings_json(*read.config);
    EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos) << "a secret";
    const auto page = json::parse(text);
    const auto memory = setting(page, "cache.memory");
    EXPECT_EQ(memory["value"], "64MiB");
    EXPECT_EQ(memory["default"], "512MiB");
    EXPECT_EQ(memory["source"], "file");
    const auto variants = setting(page, "cache.variants");
    EXPECT_EQ(variants["value"], 32);
    EXPECT_EQ(variants["default"], 32);
    EXPECT_EQ(variants["source"], "default");
    EXPECT_TRUE(setting(page, "listen")["default"].is_null()) << "it is required";
    EXPECT_TRUE(setting(page, "node")["default"].is_null()) << "the host name, in the reference";
    EXPECT_EQ(setting(page, "admin.token")["value"], "(secret)");
    EXPECT_EQ(setting(page, "cluster.keys")["source"], "file");
    EXPECT_EQ(setting(page, "cluster.heartbeat")["default"], "1s");
}

}  // namespace view_json_test
}  // namespace proxy
