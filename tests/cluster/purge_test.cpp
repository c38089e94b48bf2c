// Old content does not come back: an invalidation at one node ends it everywhere.

#include <atomic>
#include <nlohmann/json.hpp>

#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/wire.hpp"

namespace proxy::test {
namespace purge_test {

using nlohmann::json;

class Purge : public NodesTest {
protected:
    /// a's link to b goes through a wire, from which a test may take b away. b's link to a stays:
    /// a hears all that b announces.
    void start_with_wire(unsigned nodes) {
        wire_ = std::make_unique<Wire>(address("y"), kLinkPort, address("b"), kLinkPort);
        for (unsigned i = 0; i < nodes; ++i) {
            auto settings = config(std::string(1, static_cast<char>('a' + i)), nodes);
            if (i == 0) settings.cluster->peers[0].link.host = address("y");
            start(settings);
        }
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
    /// An origin with the content of `version`; each answer says it is 100 s old, so that the age
    /// of copies is as it would be after that time.
    ScriptedOrigin::Scripted versioned() {
        return origin.set([this](Exchange& e) {
            e.answer(storable ? fresh("Age: 100\r\n") : "Cache-Control: no-store\r\n",
                     "version " + std::to_string(version.load()));
        });
    }

    std::atomic<int> version{1};
    std::atomic<bool> storable{true};
    std::unique_ptr<Wire> wire_;
};

TEST_F(Purge, AnUnsafeMethodThroughOneNodeEndsTheCopiesOfAll) {  // RFC 9111 §4.4
    const auto scripted = versioned();
    start_cluster(3);
    for (const auto* node : {"a", "b", "c"}) EXPECT_EQ(get(node, "/one").body, "version 1");
    version = 2;
    EXPECT_EQ(client("a").ask("POST", "/one", "", "x").status, 200u);
    ASSERT_TRUE(eventually([&] {
        return seen("a", "b").invalidations.confirmed == 1 &&
               seen("a", "c").invalidations.confirmed == 1;
    }));
    for (const auto* node : {"b", "c", "a"}) EXPECT_EQ(get(node, "/one").body, "version 2");
    EXPECT_EQ(seen("b", "a").invalidations_received, 1u);
    EXPECT_EQ(seen("b", "c").invalidations.sent, 0u) << "not passed on: a tells everybody";
}

TEST_F(Purge, AnErrorResponseToAnUnsafeMethodEndsNothing) {  // behaviour 38
    start_cluster(2);
    store("b", "/one");
    const auto scripted = origin.set([](Exchange& e) { e.answer("", "no", "403 Forbidden"); });
    EXPECT_EQ(client("a").ask("DELETE", "/one").status, 403u);
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(seen("a", "b").invalidations.sent, 0u);
}

TEST_F(Purge, AnAbsentPeerGetsItOnReturnAndIsNotAskedBefore) {
    const auto scripted = versioned();
    start_with_wire(2);
    store("b", "/one");
    wire_->cut();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_sync(); }));
    version = 2;
    client("a").ask("POST", "/one", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("a", "b").state == protocol::PeerState::lagging; }));
    EXPECT_EQ(seen("a", "b").invalidations.pending, 1u);
    EXPECT_EQ(get("a", "/one").body, "version 2");
    EXPECT_EQ(seen("a", "b").asked, 0u) << "its summary has it, but it does not count";
    EXPECT_EQ(get("b", "/one").body, "version 1") << "b cannot know";
    wire_->heal();
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(seen("a", "b").invalidations.pending, 0u);
    EXPECT_EQ(get("b", "/one").body, "version 2");
}

TEST_F(Purge, ANodeRefusesCopiesThatAreOlderThanItsInvalidation) {
    const auto scripted = versioned();
    start_with_wire(3);
    store("b", "/one");
    wire_->cut();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_sync(); }));
    client("a").ask("POST", "/one", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("c", "a").invalidations_received == 1; }));
    version = 2;
    storable = false;
    // c has heard of it, b has not. For a while c asks nobody, then b, which has too old a copy.
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(get("c", "/one").body, "version 2");
        return seen("c", "b").stale_hits > 0;
    }));
    EXPECT_EQ(seen("c", "b").hits, 0u);
    EXPECT_EQ(seen("c", "b").failures, 0u);
    EXPECT_EQ(get("b", "/one").body, "version 1") << "b cannot know";
}

TEST_F(Purge, OfOtherThingsDoesNotEndSharing) {
    // Each answer says that it is 100 s old: older than all that is invalidated here.
    const auto scripted = origin.set([](Exchange& e) {
        if (e.field("Range").empty() || e.target != "/parts")
            return e.answer(fresh("Age: 100\r\n"), "body");
        e.answer(fresh("ETag: \"1\"\r\nContent-Range: bytes 0-3/4\r\n"), "part",
                 "206 Partial Content");
    });
    start_cluster(2);
    get("a", "/parts", "Range: bytes=0-1\r\n");  // from here on there are blocks
    for (int i = 0; i < 20; ++i) store("b", "/" + std::to_string(i));
    auto admin = admin_client("a");
    for (int i = 0; i < 5; ++i) {
        json urls;
        for (int n = 0; n < 1000; ++n)
            urls.push_back("http://origin.test/form" + std::to_string(i * 1000 + n));
        ASSERT_EQ(admin
                      .ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                           json{{"urls", urls}}.dump())
                      .status,
                  200u);
    }
    auto user = client("a");
    ASSERT_TRUE(eventually([&] { return seen("a", "b").invalidations.pending == 0; }));
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(user.get("/" + std::to_string(i)).cache_status().starts_with("b; hit")) << i;
    EXPECT_EQ(seen("a", "b").hits, 20u);
    EXPECT_EQ(seen("a", "b").stale_hits, 0u);
}

TEST_F(Purge, InvalidationsByTheLastRequestsOfADrainingNodeReachItsPeers) {
    start_cluster(2);
    store("b", "/one");
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.method == "POST") gate.wait();
        e.answer(fresh(), "version 2");
    });
    auto last = client("a");
    last.begin("POST", "/one", "", "x");
    ASSERT_TRUE(gate.wait_for(1));
    admin_client("a").ask("POST", "/api/v1/drain", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("b", "a").state == protocol::PeerState::withdrawn; }));
    gate.open();
    EXPECT_EQ(last.read().status, 200u);
    ASSERT_TRUE(eventually([&] { return status("b").cache.objects == 0; }));
    EXPECT_EQ(get("b", "/one").body, "version 2");
}

TEST_F(Purge, KeepsAConcurrentFetchOfAPeerFromBeingStored) {
    start_cluster(2);
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto now = version.load();
        if (e.method == "GET" && now == 1) gate.wait();
        e.answer(fresh(), "version " + std::to_string(now));
    });
    auto waiting = client("b");
    waiting.begin("GET", "/one");
    ASSERT_TRUE(gate.wait_for(1));
    client("a").ask("POST", "/one", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("b", "a").invalidations_received == 1; }));
    gate.open();
    EXPECT_EQ(waiting.read().body, "version 1") << "it was asked for before";
    version = 2;
    EXPECT_EQ(get("b", "/one").body, "version 2");
}

TEST_F(Purge, ByMethodEndsAUrlInTheWholeClusterAndSaysWhere) {
    const auto scripted = versioned();
    start_cluster(2);
    for (const auto* node : {"a", "b"}) get(node, "/one");
    version = 2;
    const auto answer = client("a").ask("PURGE", "/one");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(json::parse(answer.body),
              json::parse(R"({"node": "a", "objects": 1, "confirmed": ["b"], "pending": [],
                              "away": []})"));
    EXPECT_EQ(status("b").cache.objects, 0u) << "confirmed, so done";
    for (const auto* node : {"b", "a"}) EXPECT_EQ(get(node, "/one").body, "version 2");
    for (const auto& head : origin.heads()) EXPECT_FALSE(head.starts_with("PURGE")) << head;
}

TEST_F(Purge, EndsTheResultOfAConcurrentPost) {  // RFC 9110 §9.3.3
    std::atomic<Gate*> hold{nullptr};
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.method == "POST" && hold) hold.load()->wait();
        e.answer(fresh("Content-Location: /one\r\nSurrogate-Key: news\r\n"), e.method);
    });
    start(config("a"));
    EXPECT_EQ(client("a").ask("POST", "/one", "", "x").status, 200u);
    EXPECT_EQ(get("a", "/one").body, "POST") << "kept, as nobody purged it";
    const std::vector<std::function<unsigned()>> purges = {
        [&] { return client("a").ask("PURGE", "/one").status; },
        [&] {
            return admin_client("a")
                .ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                     json{{"tags", {"news"}}}.dump())
                .status;
        }};
    for (const auto& purge : purges) {
        Gate gate;
        hold = &gate;
        auto poster = client("a");
        poster.begin("POST", "/one", "", "x");
        ASSERT_TRUE(gate.wait_for(1));
        EXPECT_EQ(purge(), 200u);
        gate.open();
        EXPECT_EQ(poster.read().body, "POST");
        hold = nullptr;
        EXPECT_EQ(get("a", "/one").body, "GET");
    }
}

TEST_F(Purge, EndsAllVariantsAndNothingElse) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh("Vary: Accept-Language\r\n"), e.field("Accept-Language"));
    });
    start(config("a"));
    for (const auto* language : {"de", "fr"})
        get("a", "/one", "Accept-Language: " + std::string(language) + "\r\n");
    get("a", "/two", "Accept-Language: de\r\n");
    auto connection = client("a");
    EXPECT_EQ(json::parse(connection.ask("PURGE", "http://origin.test/one").body).at("objects"), 1)
        << "absolute-form names the same";
    EXPECT_EQ(status("a").cache.objects, 1u);
    const auto again = connection.ask("PURGE", "/one");
    EXPECT_EQ(again.status, 200u) << "what is not stored is as gone as it was to be";
    EXPECT_EQ(json::parse(again.body).at("objects"), 0);
}

TEST_F(Purge, ByMethodIsForAllowedAddresses) {
    auto settings = config("a");
    settings.clients.purge = {"10.0.0.0/8"};
    start(settings);
    get("a", "/one");
    EXPECT_EQ(client("a").ask("PURGE", "/one").status, 403u);
    EXPECT_EQ(status("a").cache.objects, 1u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::forbidden], 1u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Purge, NamesAbsentPeers) {
    const auto scripted = versioned();
    start_with_wire(3);
    store("b", "/one");
    wire_->cut();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_sync(); }));
    version = 2;
    const auto answer = client("a").ask("PURGE", "/one");
    EXPECT_EQ(answer.status, 202u);
    EXPECT_EQ(json::parse(answer.body).at("confirmed"), json{"c"});
    EXPECT_EQ(json::parse(answer.body).at("away"), json{"b"});
    wire_->heal();
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("b", "/one").body, "version 2") << "it was kept for b";
}

TEST_F(Purge, ByTheAdminPortTakesUrlsAndTags) {
    const auto scripted = origin.set([](Exchange& e) {
        const auto tags = e.target == "/three" ? "other" : "news front";
        e.answer(fresh("Surrogate-Key: " + std::string(tags) + "\r\n"), "x");
    });
    start_cluster(2);
    for (const auto* target : {"/one", "/two", "/three", "/four"}) {
        EXPECT_EQ(get("a", target).field("Surrogate-Key").empty(), false) << "passed on";
        get("b", target);
    }
    auto admin = admin_client("a");
    const auto purge = [&](const std::string& body) {
        return admin.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n", body);
    };
    const auto by_tag = purge(R"({"tags": ["news"]})");
    EXPECT_EQ(by_tag.status, 200u);
    EXPECT_EQ(json::parse(by_tag.body).at("objects"), 3);
    EXPECT_EQ(status("a").cache.objects, 1u);
    EXPECT_EQ(status("b").cache.objects, 1u);
    EXPECT_EQ(json::parse(purge(R"({"urls": ["http://origin.test/three", "http://x/"]})").body)
                  .at("objects"),
              1);
    EXPECT_EQ(status("b").cache.objects, 0u);
}

TEST_F(Purge, ByTheAdminPortRefusesMalformedOrdersAndWebPages) {
    start(config("a"));
    get("a", "/one");
    auto admin = admin_client("a");
    const auto purge = [&](std::string_view fields, std::string_view body) {
        return admin.ask("POST", "/api/v1/purge", fields, body);
    };
    const std::string_view good = R"({"url": "http://origin.test/one"})";
    EXPECT_EQ(purge("Content-Type: application/json\r\n", R"({"uri": "x"})").status, 400u);
    EXPECT_EQ(purge("Content-Type: text/plain\r\n", good).status, 415u);
    EXPECT_EQ(purge("", good).status, 415u);
    EXPECT_EQ(purge("Origin: http://evil.test\r\nContent-Type: application/json\r\n", good).status,
              403u);
    EXPECT_EQ(admin.get("/api/v1/purge").status, 405u);
    EXPECT_EQ(status("a").cache.objects, 1u);
    EXPECT_EQ(purge("Content-Type: application/json; charset=utf-8\r\n", good).status, 200u);
    EXPECT_EQ(status("a").cache.objects, 0u);
}

TEST_F(Purge, ByAGroupOfTheOriginEndsTheGroupEverywhere) {  // RFC 9875 §3
    const auto scripted = origin.set([](Exchange& e) {
        if (e.method == "POST")
            e.answer("Cache-Group-Invalidation: \"news\"\r\n", "done");
        else
            e.answer(fresh(e.target == "/other" ? "" : "Cache-Groups: \"news\", \"all\"\r\n"), "x");
    });
    start_cluster(2);
    for (const auto* target : {"/one", "/two", "/other"}) get("b", target);
    ASSERT_EQ(client("b").ask("GET", "http://another.test/one").status, 200u);  // same group name
    client("a").ask("POST", "/form", "", "x");
    ASSERT_TRUE(eventually([&] { return status("b").cache.objects == 2; }));
    EXPECT_TRUE(get("b", "/other").cache_status().starts_with("b; hit"));
    EXPECT_TRUE(client("b").get("http://another.test/one").cache_status().starts_with("b; hit"));
}

TEST_F(Purge, ByTagAlsoEndsAFetchUnderWay) {
    Gate gate;
    std::atomic<int> now{1};
    const auto scripted = origin.set([&](Exchange& e) {
        const auto body = "version " + std::to_string(now.load());
        e.send(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nSurrogate-Key: news\r\n"
            "Content-Length: 9\r\n\r\n" +
            body.substr(0, 4));
        if (now == 1) gate.wait();
        e.send(body.substr(4));
    });
    start(config("a"));
    auto first = client("a");
    first.begin("GET", "/one");
    ASSERT_TRUE(first.read_at_least(4));
    now = 2;
    auto admin = admin_client("a");
    admin.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
              R"({"tags": ["news"]})");
    EXPECT_EQ(get("a", "/one").body, "version 2") << "newcomers do not follow the old one";
    gate.open();
    EXPECT_EQ(first.read().body, "version 1");
    EXPECT_EQ(get("a", "/one").body, "version 2");
    EXPECT_EQ(status("a").cache.objects, 1u);
}

TEST_F(Purge, ByPrefixEndsWhatIsBelowItEverywhere) {
    std::atomic<int> number{0};
    const auto scripted =
        origin.set([&](Exchange& e) { e.answer(fresh(), std::to_string(++number)); });
    start_cluster(2);
    const std::vector<std::string> below{"/docs/", "/docs/1", "/docs/a/b/2?x=1", "/docs/%41"};
    const std::vector<std::string> beside{"/doc", "/docs", "/docsx/1", "/a/docs/1", "/?/docs/"};
    for (const auto& list : {below, beside})
        for (const auto& target : list) {
            get("a", target);
            get("b", target);
        }
    auto admin = admin_client("a");
    const auto purge = [&](const std::string& body) {
        return admin.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n", body);
    };
    const auto purged = purge(R"({"prefixes": ["http://origin.test/docs/"]})");
    EXPECT_EQ(purged.status, 200u) << purged.body;
    EXPECT_EQ(json::parse(purged.body).at("objects"), below.size());
    const auto before = number.load();
    for (const auto& target : beside) {
        EXPECT_TRUE(contains(get("a", target).cache_status(), "; hit")) << target;
        EXPECT_TRUE(contains(get("b", target).cache_status(), "; hit")) << target;
    }
    EXPECT_EQ(number, before);
    for (const auto& target : below) {
        const auto body = get("b", target).body;
        EXPECT_EQ(body, std::to_string(number));
    }
    EXPECT_EQ(number, before + static_cast<int>(below.size()));
    EXPECT_EQ(json::parse(purge(R"({"prefixes": ["http://origin.test"]})").body).at("objects"),
              beside.size());
    EXPECT_EQ(status("b").cache.objects, 0u);
    EXPECT_EQ(purge(R"({"prefixes": ["http://origin.test/docs"]})").status, 400u);
}

TEST_F(Purge, ByPrefixAlsoEndsAFetchUnderWayAndBlocks) {
    Gate gate;
    std::atomic<bool> purged{false};
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/d/slow" && !purged) gate.wait();
        File{bytes(10 * kBlock, purged ? 2 : 1)}.answer(e);
    });
    auto settings = config("a");
    settings.cache.block = kBlock;
    settings.cache.slice_from = 4 * kBlock;
    start(settings);
    EXPECT_EQ(get("a", "/d/large", "Range: bytes=0-9\r\n").body, bytes(10));
    EXPECT_EQ(get("a", "/d/large").body, bytes(10 * kBlock));
    auto first = client("a");
    first.begin("GET", "/d/slow", "Range: bytes=0-9\r\n");
    ASSERT_TRUE(gate.wait_for(1));
    const auto answer =
        admin_client("a").ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                              R"({"prefixes": ["http://origin.test/d/"]})");
    EXPECT_EQ(json::parse(answer.body).at("objects"), 1) << "blocks are no objects";
    EXPECT_EQ(status("a").cache.objects, 0u);
    purged = true;
    gate.open();
    first.read();
    EXPECT_EQ(get("a", "/d/slow").body, bytes(10 * kBlock, 2));
    EXPECT_EQ(get("a", "/d/large").body, bytes(10 * kBlock, 2)) << "under the same tag";
}

TEST_F(Purge, SoftlyKeepsTheBodiesOfAllNodes) {
    std::atomic<int> bodies{0}, validations{0};
    std::atomic<bool> well{true};
    const auto scripted = origin.set([&](Exchange& e) {
        // A 503 would begin a pause, in which no validation goes out.
        if (!well) return e.answer("", "no", "500 Internal Server Error");
        const auto fields =
            fresh("ETag: \"1\"\r\nSurrogate-Key: t\r\nCache-Control: stale-if-error=1000\r\n");
        if (e.target == "/d/plain")
            return e.answer(fresh("Surrogate-Key: t\r\n"), std::to_string(++bodies));
        if (e.field("If-None-Match") == "\"1\"") {
            ++validations;
            return e.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
        }
        e.answer(fields, std::to_string(++bodies));
    });
    start_cluster(2);
    EXPECT_EQ(get("a", "/d/one").body, "1");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/d/one").body, "1");
    EXPECT_EQ(get("a", "/d/plain").body, "2");
    auto admin = admin_client("a");
    for (const auto* order : {R"({"url": "http://origin.test/d/one", "soft": true})",
                              R"({"tags": ["t"], "soft": true})",
                              R"({"prefixes": ["http://origin.test/d/"], "soft": true})"}) {
        const auto purged =
            admin.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n", order);
        EXPECT_EQ(purged.status, 200u) << purged.body;
        const auto before = validations.load();
        well = false;
        EXPECT_EQ(get("a", "/d/one").body, "1") << "stale-if-error applies";
        EXPECT_EQ(get("b", "/d/one").body, "1") << "at the other node as well";
        well = true;
        EXPECT_EQ(get("a", "/d/one").body, "1");
        EXPECT_EQ(validations, before + 1) << order;
        EXPECT_TRUE(contains(get("a", "/d/one").cache_status(), "; hit"));
    }
    EXPECT_EQ(get("a", "/d/plain").body, "3") << "nothing could validate it";
    EXPECT_EQ(bodies, 3);
    EXPECT_EQ(admin
                  .ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                       R"({"tags": ["t"], "soft": 1})")
                  .status,
              400u);
}

// Some origins name a body's tags with the whole alone.
TEST_F(Purge, ByTagTakesBlocksThatDoNotSayThatTheyHaveIt) {
    std::atomic<bool> purged{false}, tagged{true};
    const auto scripted = origin.set([&](Exchange& e) {
        File file{bytes(20'000, purged ? 5 : 1)};  // whose version has the same name
        if (e.field("Range").empty() && tagged) file.more += "Surrogate-Key: news\r\n";
        file.answer(e);
    });
    auto settings = config("a");
    settings.cache.block = kBlock;
    settings.cache.slice_from = 4 * kBlock;
    start(settings);
    const auto purge = [&] {
        auto admin = admin_client("a");
        admin.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                  R"({"tags": ["news"]})");
    };
    EXPECT_EQ(get("a", "/one").body, bytes(20'000));
    purged = true;
    purge();
    EXPECT_EQ(get("a", "/one").body, bytes(20'000, 5));
    // Nor may they have it when they come: the whole gets it later.
    purge();
    purged = tagged = false;
    EXPECT_EQ(get("a", "/one").body, bytes(20'000));
    tagged = purged = true;
    get("a", "/one", "Cache-Control: no-cache\r\n");  // 304
    purge();
    EXPECT_EQ(get("a", "/one").body, bytes(20'000, 5));
}

// The head that a range has begun ends as well, and the block that came with it.
TEST_F(Purge, ByTagAlsoEndsAFetchOfAPartUnderWay) {
    Gate gate;
    std::atomic<bool> purged{false};
    const auto scripted = origin.set([&](Exchange& e) {
        File file{bytes(10'000, purged ? 5 : 1)};
        file.more += "Surrogate-Key: news\r\n";
        if (!purged) gate.wait();
        file.answer(e);
    });
    start(config("a"));
    auto first = client("a");
    first.begin("GET", "/one", "Range: bytes=0-9\r\n");
    ASSERT_TRUE(gate.wait_for(1));
    auto admin = admin_client("a");
    admin.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
              R"({"tags": ["news"]})");
    auto second = client("a");
    second.begin("GET", "/one");  // waits for the first, and must not get what that brings
    auto part = client("a");
    part.begin("GET", "/one", "Range: bytes=5000-5009\r\n");
    purged = true;
    gate.open();
    const auto began_before = first.read().body;
    EXPECT_TRUE(began_before == bytes(10'000).substr(0, 10) ||
                began_before == bytes(10'000, 5).substr(0, 10))
        << began_before;
    EXPECT_EQ(second.read().body, bytes(10'000, 5));
    EXPECT_EQ(part.read().body, bytes(10'000, 5).substr(5000, 10));
    // The version's name is the same: nothing of the old one may stand there.
    EXPECT_EQ(get("a", "/one").body, bytes(10'000, 5));
}

}  // namespace purge_test
}  // namespace proxy::test
