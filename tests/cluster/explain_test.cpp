#include <nlohmann/json.hpp>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace explain_test {

using nlohmann::json;

class Explain : public NodesTest {
protected:
    json explain(const std::string& node, const std::string& path) const {
        const auto answer = admin(node, "/api/v1/explain?url=http%3A%2F%2Forigin.test%2F" + path);
        EXPECT_EQ(answer.status, 200u) << answer.body;
        return json::parse(answer.body, nullptr, false);
    }
    static json peer(const json& page, const std::string& node) {
        for (const auto& each : page["peers"])
            if (each["node"] == node) return each;
        return {};
    }
};

TEST_F(Explain, ShowsClaimsOfSummariesTheTruthAndTheTargetsOfAMiss) {
    start_cluster(3);
    store("a", "/one");
    const auto requests = origin.requests();
    const auto page = explain("b", "one");
    EXPECT_EQ(page["url"], "http://origin.test/one");
    EXPECT_EQ(page["here"], "absent");
    ASSERT_EQ(page["peers"].size(), 2u);
    EXPECT_EQ(page["peers"][0]["node"], "a") << "those that claim it come first";
    const auto a = peer(page, "a"), c = peer(page, "c");
    EXPECT_EQ(a["claims"], true);
    EXPECT_EQ(a["has"], "has");
    EXPECT_EQ(a["choice"], "asked");
    EXPECT_EQ(a["turn"], 1);
    EXPECT_EQ(c["claims"], false);
    EXPECT_EQ(c["has"], "absent");
    EXPECT_EQ(c["choice"], "no_claim");
    EXPECT_EQ(origin.requests(), requests) << "nothing is fetched";
    EXPECT_EQ(seen("b", "a").asked, 0u) << "and nothing booked";
    EXPECT_EQ(seen("a", "b").served, 0u);
    EXPECT_EQ(status("b").work.total(), 0u);
}

TEST_F(Explain, ShowsAgeLifetimeAndSizeOfTheStoredResponse) {
    start(config("a"));
    {
        const auto scripted = origin.set([](Exchange& e) {
            e.answer("Cache-Control: max-age=600\r\nAge: 100\r\nVary: Accept\r\n", "twelve bytes");
        });
        get("a", "/one");
    }
    const auto page = explain("a", "one");
    EXPECT_GE(page["age_seconds"], 100);
    EXPECT_LT(page["age_seconds"], 200);
    EXPECT_EQ(page["lifetime_seconds"], 600);
    EXPECT_EQ(page["body_bytes"], 12u);
    EXPECT_EQ(page["variants"], 1u);
    EXPECT_FALSE(page.contains("blocks"));
    EXPECT_FALSE(page.contains("not_stored"));
}

TEST_F(Explain, NamesTheReasonAgainstStoring) {
    start(config("a"));
    {
        const auto scripted = origin.set(
            [](Exchange& e) { e.answer("Cache-Control: private, max-age=600\r\n", "mine"); });
        get("a", "/private");
    }
    const auto page = explain("a", "private");
    EXPECT_EQ(page["here"], "absent");
    ASSERT_TRUE(page.contains("not_stored"));
    EXPECT_EQ(page["not_stored"]["verdict"], "private");
    EXPECT_LT(page["not_stored"]["seconds_ago"], 60);
    EXPECT_FALSE(explain("a", "never").contains("not_stored"));
}

TEST_F(Explain, ShowsTheStoredResponse) {
    start(config("a"));
    get("a", "/fresh");
    const auto fresh_one = explain("a", "fresh");
    EXPECT_EQ(fresh_one["here"], "fresh");
    EXPECT_GT(fresh_one["ttl_seconds"], 900);
    EXPECT_TRUE(fresh_one["peers"].empty());
    {
        const auto scripted = origin.set(
            [](Exchange& e) { e.answer("Cache-Control: max-age=0\r\nETag: \"v\"\r\n", "x"); });
        get("a", "/stale");
    }
    EXPECT_EQ(explain("a", "stale")["here"], "stale");
    EXPECT_EQ(explain("a", "never")["here"], "absent");
    {
        const auto scripted = origin.set([](Exchange& e) {
            e.answer(fresh("Vary: Accept-Language\r\n"), e.field("Accept-Language"));
        });
        get("a", "/varies", "Accept-Language: de\r\n");
    }
    EXPECT_EQ(explain("a", "varies")["here"], "variant");
}

TEST_F(Explain, ShowsThatAMissAsksNoPeerAfterAPurge) {
    start_cluster(2);
    store("a", "/one");
    client("b").ask("POST", "/one", "", "x");
    const auto page = explain("b", "one");
    EXPECT_EQ(page["just_invalidated"], true);
    EXPECT_TRUE(peer(page, "a")["turn"].is_null());
}

TEST_F(Explain, ShowsAPeerThatIsNotThereWithoutWaitingForIt) {
    start_cluster(2);
    store("a", "/one");
    kill("a");
    ASSERT_TRUE(eventually([&] { return !in_sync("b"); }));
    const auto a = peer(explain("b", "one"), "a");
    EXPECT_EQ(a["choice"], "not_in_step");
    EXPECT_TRUE(a["has"].is_null());
}

TEST_F(Explain, SaysThatATargetIsPrivateOrAListener) {
    auto settings = config("a");
    settings.forward.enabled = true;
    settings.origins.front().host = "origin.test";
    start(settings);
    const auto refusal = [&](const std::string& url) {
        const auto answer = admin("a", "/api/v1/explain?url=http%3A%2F%2F" + url + "%2F");
        return json::parse(answer.body, nullptr, false).value("target_refused", "");
    };
    EXPECT_EQ(refusal("10.1.2.3"), "403 (forward.private_destinations)");
    EXPECT_EQ(refusal("localhost%3A8080"), "403 (forward.private_destinations)");
    EXPECT_EQ(refusal(address("a") + "%3A3128"), "403 (this node or a peer listens there)");
    EXPECT_EQ(refusal("no-such-host.invalid"), "") << "it has no address";
    EXPECT_EQ(refusal("origin.test"), "") << "the operator's own choice";
    EXPECT_EQ(origin.connections(), 0u);
}

TEST_F(Explain, RefusesMalformedUrls) {
    start(config("a"));
    EXPECT_EQ(admin("a", "/api/v1/explain").status, 400u);
    EXPECT_EQ(admin("a", "/api/v1/explain?url=one").status, 400u);
}

}  // namespace explain_test
}  // namespace proxy::test
