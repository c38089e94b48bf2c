// Old content does not come back: what one node invalidates ends everywhere.

#include <atomic>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace {

using nlohmann::json;

/// The cable between two nodes' links: passes bytes on, until somebody pulls it.
class Cable {
public:
    Cable(const std::string& listen, const std::string& target)
        : target_(target), listener_(Socket::listen(listen, kLinkPort)), acceptor_([this] {
              for (;;) {
                  auto near = listener_.accept();
                  if (!near.open()) return;
                  connect(std::move(near));
              }
          }) {}
    ~Cable() {
        pull();
        listener_.shut();
        acceptor_.join();
        for (auto& pair : pairs_) pair.thread.join(), pair.back.join();
    }
    Cable(const Cable&) = delete;

    /// Breaks what runs over it and lets nothing new through.
    void pull() {
        const std::lock_guard lock(mutex_);
        pulled_ = true;
        for (auto& pair : pairs_) pair.near.shut(), pair.far.shut();
    }
    void mend() {
        const std::lock_guard lock(mutex_);
        pulled_ = false;
    }

private:
    struct Pair {
        Socket near, far;
        std::thread thread, back;
    };

    void connect(Socket near) {
        const std::lock_guard lock(mutex_);
        if (pulled_) return;
        Socket far;
        try {
            far = Socket::connect(target_, kLinkPort);
        } catch (const std::system_error&) {
            return;  // b does not listen yet: a dials again
        }
        auto& pair = pairs_.emplace_back();
        pair.near = std::move(near);
        pair.far = std::move(far);
        pair.thread = std::thread([&pair] { pump(pair.near, pair.far); });
        pair.back = std::thread([&pair] { pump(pair.far, pair.near); });
    }
    static void pump(Socket& from, Socket& to) {
        std::string bytes;
        while (from.receive(bytes) && to.send(bytes)) bytes.clear();
        from.shut();
        to.shut();
    }

    std::string target_;
    Socket listener_;
    std::mutex mutex_;
    bool pulled_ = false;
    std::list<Pair> pairs_;
    std::thread acceptor_;
};

class Purge : public NodesTest {
protected:
    PeerStatus seen(const std::string& node, const std::string& peer) const {
        for (const auto& each : status(node).cluster.peers)
            if (each.node == peer) return each;
        ADD_FAILURE() << "no peer " << peer;
        return {};
    }
    /// a's link to b goes through a cable, from which a test may take b away. b's link to a stays:
    /// a hears all that b announces.
    void start_with_cable(unsigned nodes) {
        cable_ = std::make_unique<Cable>(address("y"), address("b"));
        for (unsigned i = 0; i < nodes; ++i) {
            auto settings = config(std::string(1, static_cast<char>('a' + i)), nodes);
            if (i == 0) settings.cluster->peers[0].link.host = address("y");
            start(settings);
        }
        ASSERT_TRUE(eventually([&] { return in_step("a") && in_step("b"); }));
    }
    /// An origin whose content is what `version` says; each answer says it is 100 s old, so that
    /// the age of copies says what it would after that time.
    ScriptedOrigin::Scripted versioned() {
        return origin.set([this](Exchange& e) {
            e.answer(storable ? fresh("Age: 100\r\n") : "Cache-Control: no-store\r\n",
                     "version " + std::to_string(version.load()));
        });
    }

    std::atomic<int> version{1};
    std::atomic<bool> storable{true};
    std::unique_ptr<Cable> cable_;
};

TEST_F(Purge, AnUnsafeMethodThroughOneNodeEndsTheCopiesOfAll) {  // RFC 9111 §4.4
    const auto scripted = versioned();
    start_cluster(3);
    for (const auto* node : {"a", "b", "c"}) EXPECT_EQ(get(node, "/one").body, "version 1");
    version = 2;
    EXPECT_EQ(client("a").ask("POST", "/one", "", "x").status, 200u);
    ASSERT_TRUE(eventually([&] {
        return seen("a", "b").invalidations_confirmed == 1 &&
               seen("a", "c").invalidations_confirmed == 1;
    }));
    for (const auto* node : {"b", "c", "a"}) EXPECT_EQ(get(node, "/one").body, "version 2");
    EXPECT_EQ(seen("b", "a").invalidations_received, 1u);
    EXPECT_EQ(seen("b", "c").invalidations_sent, 0u) << "not passed on: a tells everybody";
}

TEST_F(Purge, AnErrorAnswerToAnUnsafeMethodEndsNothing) {  // behaviour 38
    start_cluster(2);
    store("b", "/one");
    const auto scripted = origin.set([](Exchange& e) { e.answer("", "no", "403 Forbidden"); });
    EXPECT_EQ(client("a").ask("DELETE", "/one").status, 403u);
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(seen("a", "b").invalidations_sent, 0u);
}

TEST_F(Purge, APeerThatIsAwayIsToldWhenItIsBackAndNotAskedBefore) {
    const auto scripted = versioned();
    start_with_cable(2);
    store("b", "/one");
    cable_->pull();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_step(); }));
    version = 2;
    client("a").ask("POST", "/one", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("a", "b").state == "behind"; }));
    EXPECT_EQ(seen("a", "b").invalidations_pending, 1u);
    EXPECT_EQ(get("a", "/one").body, "version 2");
    EXPECT_EQ(seen("a", "b").asked, 0u) << "its summary has it, but it does not count";
    EXPECT_EQ(get("b", "/one").body, "version 1") << "b cannot know";
    cable_->mend();
    ASSERT_TRUE(eventually([&] { return in_step("a") && in_step("b"); }));
    EXPECT_EQ(seen("a", "b").invalidations_pending, 0u);
    EXPECT_EQ(get("b", "/one").body, "version 2");
}

TEST_F(Purge, ANodeRefusesCopiesThatAreOlderThanItsInvalidation) {
    const auto scripted = versioned();
    start_with_cable(3);
    store("b", "/one");
    cable_->pull();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_step(); }));
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

TEST_F(Purge, WhatEndsWithTheLastRequestsOfADrainingNodeReachesItsPeers) {
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
    Client(address("a"), kAdminPort).ask("POST", "/api/v1/drain", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("b", "a").state == "withdrawn"; }));
    gate.open();
    EXPECT_EQ(last.read().status, 200u);
    ASSERT_TRUE(eventually([&] { return status("b").cache.objects == 0; }));
    EXPECT_EQ(get("b", "/one").body, "version 2");
}

TEST_F(Purge, WhatAPeerWasFetchingMeanwhileIsNotStored) {
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

TEST_F(Purge, ByMethodIsForThoseWhomTheConfigurationAllows) {
    auto settings = config("a");
    settings.purge.allow = {"10.0.0.0/8"};
    start(settings);
    get("a", "/one");
    EXPECT_EQ(client("a").ask("PURGE", "/one").status, 403u);
    EXPECT_EQ(status("a").cache.objects, 1u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::forbidden], 1u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Purge, ThatDoesNotReachEverybodySaysWhoIsAway) {
    const auto scripted = versioned();
    start_with_cable(3);
    store("b", "/one");
    cable_->pull();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_step(); }));
    version = 2;
    const auto answer = client("a").ask("PURGE", "/one");
    EXPECT_EQ(answer.status, 202u);
    EXPECT_EQ(json::parse(answer.body).at("confirmed"), json{"c"});
    EXPECT_EQ(json::parse(answer.body).at("away"), json{"b"});
    cable_->mend();
    ASSERT_TRUE(eventually([&] { return in_step("a") && in_step("b"); }));
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
    Client admin(address("a"), kAdminPort);
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

TEST_F(Purge, ByTheAdminPortRefusesWhatItDoesNotUnderstandAndWebPages) {
    start(config("a"));
    get("a", "/one");
    Client admin(address("a"), kAdminPort);
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

TEST_F(Purge, ByTagAlsoEndsWhatIsBeingFetched) {
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
    Client admin(address("a"), kAdminPort);
    admin.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
              R"({"tags": ["news"]})");
    EXPECT_EQ(get("a", "/one").body, "version 2") << "newcomers do not follow the old one";
    gate.open();
    EXPECT_EQ(first.read().body, "version 1");
    EXPECT_EQ(get("a", "/one").body, "version 2");
    EXPECT_EQ(status("a").cache.objects, 1u);
}

}  // namespace
}  // namespace proxy::test
