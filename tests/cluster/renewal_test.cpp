#include <atomic>
#include <string>

#include "tests/cluster/fixture.hpp"
#include "tests/cluster/machine_sleep.hpp"

namespace proxy::test {
namespace renewal_test {

/// Copies of one response at several nodes, which all become stale at the same time.
class RenewalTest : public NodesTest {
protected:
    MachineSleep<30 * 60> machine_sleep;
    static std::string first(std::string_view more = {}) {
        return fresh("ETag: \"1\"\r\n" + std::string(more));
    }
    /// All that is stored becomes stale, as after a sleep of the machine.
    void make_stale() { machine_sleep.begin(); }
    static void confirm(Exchange& e, const std::string& fields) {
        e.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
    }
    /// Both nodes have the response, and it is stale.
    void store_and_wait() {
        start_two();
        EXPECT_EQ(get("a", "/one").body, "first");
        ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
        EXPECT_EQ(get("b", "/one").body, "first");
        ASSERT_TRUE(eventually([&] { return announced("b", 1); }));
        ASSERT_EQ(origin.requests(), 1u);
        make_stale();
    }
    /// Both nodes, and each knows that the other takes renewals.
    void start_two() {
        start_cluster(2);
        ASSERT_TRUE(eventually([&] { return seen("a", "b").renews && seen("b", "a").renews; }));
    }
    bool is_told() const {
        return eventually([&] { return seen("b", "a").renewals_received == 1; });
    }
};

TEST_F(RenewalTest, OneValidationIsEnoughForAllNodes) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"1\"") return confirm(e, fresh("ETag: \"1\"\r\n"));
        e.answer(first(), "first");
    });
    store_and_wait();
    EXPECT_EQ(get("a", "/one").body, "first");
    EXPECT_EQ(origin.requests(), 2u);
    ASSERT_TRUE(is_told());
    EXPECT_TRUE(contains(admin("b", "/api/v1/explain?url=http%3A%2F%2Forigin.test%2Fone").body,
                         R"("renewed_by": "a")"));
    const auto before = seen("b", "a");
    const auto answer = get("b", "/one");
    EXPECT_EQ(answer.body, "first");
    EXPECT_TRUE(contains(answer.cache_status(), "; hit")) << answer.cache_status();
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(seen("b", "a").asked, before.asked) << "what it was told is enough";
    EXPECT_EQ(status("a").work.renewals_told, 1u);
    EXPECT_EQ(status("b").work.renewals_taken, 1u);
    EXPECT_EQ(count("b", Outcome::local_hit), 1u);
}

TEST_F(RenewalTest, OfAnotherVersionThePeerIsAsked) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"1\"")
            return e.answer(fresh("ETag: \"2\"\r\n"), "second");
        e.answer(first(), "first");
    });
    store_and_wait();
    EXPECT_EQ(get("a", "/one").body, "second");
    ASSERT_TRUE(is_told());
    EXPECT_EQ(get("b", "/one").body, "second");
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(status("b").work.renewals_taken, 0u);
}

TEST_F(RenewalTest, ChangedFieldsOfTheValidationComeFromThePeer) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"1\"")
            return confirm(e, fresh("ETag: \"1\"\r\nX-Colour: green\r\n"));
        e.answer(first("X-Colour: red\r\n"), "first");
    });
    store_and_wait();
    EXPECT_EQ(get("a", "/one").field("X-Colour"), "green");
    ASSERT_TRUE(is_told());
    EXPECT_EQ(get("b", "/one").field("X-Colour"), "green");
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(RenewalTest, APeerWithTheSameStaleCopyIsNotAsked) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"1\"") return confirm(e, fresh("ETag: \"1\"\r\n"));
        e.answer(first(), "first");
    });
    store_and_wait();
    const auto before = seen("b", "a");
    EXPECT_EQ(get("b", "/one").body, "first");
    EXPECT_EQ(seen("b", "a").asked, before.asked);
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(RenewalTest, AHeadShowsThatCopiesOfPeersAreOutdatedToo) {
    std::atomic<int> version = 1;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto tag = "ETag: \"" + std::to_string(version) + "\"\r\n";
        e.answer(fresh(tag), version == 1 ? "first" : "second");
    });
    start_two();
    EXPECT_EQ(get("a", "/one").body, "first");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/one").body, "first");
    ASSERT_TRUE(eventually([&] { return announced("b", 1); }));
    version = 2;
    EXPECT_EQ(client("a").ask("HEAD", "/one", "Cache-Control: no-cache\r\n").status, 200u);
    EXPECT_EQ(get("a", "/one").body, "second");
}

TEST_F(RenewalTest, IsNotForWhatEachClientHasToBeAllowed) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"1\"")
            return confirm(e, "Cache-Control: no-cache\r\nETag: \"1\"\r\n");
        e.answer("Cache-Control: no-cache\r\nETag: \"1\"\r\n", "first");
    });
    start_two();
    for (const auto* node : {"a", "b", "a", "b"}) EXPECT_EQ(get(node, "/one").body, "first");
    EXPECT_EQ(origin.requests(), 4u) << "the origin has its say each time";
    EXPECT_EQ(status("a").work.renewals_taken + status("b").work.renewals_taken, 0u);
}

TEST_F(RenewalTest, OfAVariantConfirmsNoOther) {
    const auto scripted = origin.set([&](Exchange& e) {
        const auto language = e.field("Accept-Language");
        const auto fields = fresh(
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Vary: Accept-Language\r\n");
        if (!e.field("If-Modified-Since").empty()) return confirm(e, fields);
        e.answer(fields, language);
    });
    start_two();
    EXPECT_EQ(get("a", "/one", "Accept-Language: en\r\n").body, "en");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/one", "Accept-Language: de\r\n").body, "de");
    ASSERT_TRUE(eventually([&] { return announced("b", 1); }));
    make_stale();
    EXPECT_EQ(get("a", "/one", "Accept-Language: en\r\n").body, "en");
    ASSERT_TRUE(is_told());
    EXPECT_EQ(get("b", "/one", "Accept-Language: de\r\n").body, "de");
    EXPECT_EQ(origin.requests(), 4u) << "each variant has been validated";
}

TEST_F(RenewalTest, CopiesThatHaveSurvivedASoftPurgeAreValidatedByTheirNodes) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"1\"") return confirm(e, fresh("ETag: \"1\"\r\n"));
        e.answer(first(), "first");
    });
    start_two();
    EXPECT_EQ(get("a", "/one").body, "first");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/one").body, "first");
    ASSERT_TRUE(eventually([&] { return announced("b", 1); }));
    const auto purged =
        admin_client("a").ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                              R"({"url": "http://origin.test/one", "soft": true})");
    EXPECT_EQ(purged.status, 200u) << purged.body;
    EXPECT_EQ(get("a", "/one").body, "first");
    EXPECT_EQ(get("b", "/one").body, "first");
    EXPECT_EQ(origin.requests(), 3u);
    EXPECT_EQ(seen("b", "a").stale_hits, 0u);
    EXPECT_TRUE(eventually([&] { return announced("a", 1) && announced("b", 1); }));
}

TEST_F(RenewalTest, APeerWithAFreshCopyIsAskedWhenTheOriginIsAway) {
    const auto scripted = origin.set(
        [&](Exchange& e) { e.answer(first("Cache-Control: must-revalidate\r\n"), "first"); });
    start_two();
    EXPECT_EQ(get("b", "/one").body, "first");
    ASSERT_TRUE(eventually([&] { return announced("b", 1); }));
    make_stale();
    EXPECT_EQ(get("a", "/one", "Cache-Control: no-cache\r\n").body, "first");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    // The news is lost as when the link was down.
    origin.die();
    EXPECT_EQ(get("b", "/one").body, "first");
}

/// A peer's stale copy stands in for an origin in trouble where this node has none.
class StandInOfPeerTest : public RenewalTest {
protected:
    void store_at_a(std::string_view fields) {
        start_two();
        lines_ = first(fields);
        EXPECT_EQ(get("a", "/one").body, "first");
        ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
        make_stale();
        is_well_ = false;
    }
    std::atomic<bool> is_well_{true};
    std::string status_ = "503 Service Unavailable";
    std::string lines_;
    ScriptedOrigin::Script script_ = [this](Exchange& e) {
        is_well_ ? e.answer(lines_, "first") : e.answer("", "no", status_);
    };
};

TEST_F(StandInOfPeerTest, ForAnErrorOfTheOrigin) {
    const auto scripted = origin.set(script_);
    store_at_a("Cache-Control: stale-if-error=1000\r\n");
    const auto answer = get("b", "/one");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.body, "first");
    EXPECT_GE(std::stoi(answer.field("Age")), 30 * 60);
    EXPECT_TRUE(contains(answer.cache_status(), "fwd-status=503")) << answer.cache_status();
    is_well_ = true;
    const auto asked = origin.requests();
    EXPECT_EQ(get("b", "/one").body, "first");
    EXPECT_EQ(origin.requests(), asked + 1) << "nobody had confirmed it";
}

TEST_F(StandInOfPeerTest, ForAnOriginThatIsAway) {
    const auto scripted = origin.set(script_);
    store_at_a("");
    origin.die();
    EXPECT_EQ(get("b", "/one").body, "first");
}

TEST_F(StandInOfPeerTest, NotWhereTheResponseForbidsIt) {
    const auto scripted = origin.set(script_);
    store_at_a("Cache-Control: must-revalidate, stale-if-error=1000\r\n");
    EXPECT_EQ(get("b", "/one").status, 503u);
    origin.die();
    EXPECT_EQ(get("b", "/one").status, 502u);
}

TEST_F(StandInOfPeerTest, NotForAClientThatWantsAFreshOne) {
    const auto scripted = origin.set(script_);
    store_at_a("Cache-Control: stale-if-error=1000\r\n");
    EXPECT_EQ(get("b", "/one", "Cache-Control: max-age=10\r\n").status, 503u);
}

}  // namespace renewal_test
}  // namespace proxy::test
