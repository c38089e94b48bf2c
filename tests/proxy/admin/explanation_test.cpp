#include "proxy/admin/explanation.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace proxy {
namespace explanation_test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string url_in(std::string_view target) {
    const auto url = explained_url(target);
    const auto* key = std::get_if<CacheKey>(&url);
    return key ? std::string(key->uri()) : "refused: " + std::get<std::string>(url);
}

TEST(ExplainedUrl, IsTheKeyOfAWholeUrl) {
    EXPECT_EQ(url_in("/api/v1/explain?url=http%3A%2F%2FH%3A80%2Fa%3Fb%3D1%26c"),
              "http://h/a?b=1&c");
    EXPECT_EQ(url_in("/api/v1/explain?url=https://h/a%2520b"), "https://h/a%20b");
}

TEST(ExplainedUrl, IsRefusedWhereItMayBeAnother) {
    for (const auto* target : {"/api/v1/explain", "/api/v1/explain?", "/api/v1/explain?key=x",
                               "/e?x=1&url=http://h/", "/e?url=http://h/a?b=1&c=2",
                               "/e?url=http://h/%", "/e?url=http://h/%2", "/e?url=http://h/%zz"})
        EXPECT_THAT(url_in(target), HasSubstr("percent-encoded")) << target;
    for (const auto* target : {"/e?url=", "/e?url=/a", "/e?url=ftp://h/", "/e?url=http://h/%0A"})
        EXPECT_THAT(url_in(target), HasSubstr("whole URL")) << target;
}

TEST(Explanation, ShowsUnknownValuesAsNull) {
    Explanation explanation;
    explanation.url = "http://h/a";
    explanation.store.here = "stale";
    explanation.store.ttl = -3s;
    explanation.origin.place = "o:80";
    explanation.access.blocklist = "/l, line 3";
    explanation.access.blocklist_action = "log";
    explanation.origin.time = 250ms;
    explanation.peers = {{"b", true, "has", "asked", 1, 1ms},
                         {"c", false, {}, "not_in_step", 0, 0ms}};
    const auto page = nlohmann::json::parse(explanation_json(explanation));
    EXPECT_EQ(page["url"], "http://h/a");
    EXPECT_EQ(page["here"], "stale");
    EXPECT_EQ(page["ttl_seconds"], -3);
    EXPECT_EQ(page["origin_answer_seconds"], 0.25);
    EXPECT_EQ(page["peers"][0]["claims"], true);
    EXPECT_EQ(page["peers"][0]["has"], "has");
    EXPECT_EQ(page["peers"][0]["turn"], 1);
    EXPECT_TRUE(page["peers"][1]["has"].is_null());
    EXPECT_TRUE(page["peers"][1]["turn"].is_null());
    EXPECT_EQ(page["peers"][1]["choice"], "not_in_step");
    const auto nothing = nlohmann::json::parse(explanation_json({}));
    EXPECT_EQ(page["blocklist"]["entry"], "/l, line 3");
    EXPECT_EQ(page["blocklist"]["action"], "log");
    EXPECT_TRUE(nothing["blocklist"].is_null());
    EXPECT_TRUE(nothing["ttl_seconds"].is_null());
    EXPECT_EQ(nothing["here"], "absent");
}

}  // namespace explanation_test
}  // namespace proxy
