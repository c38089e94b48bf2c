#include "proxy/http/hashed_fields.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace peers_test {

class Peers : public NodesTest {
protected:
    /// Two nodes with room for large bodies.
    void start_pair(CopyPolicy copy) {
        for (const auto* name : {"a", "b"}) {
            auto settings = config(name, 2);
            settings.cache.memory = 256 << 20;
            settings.cluster->copy = copy;
            start(settings);
        }
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
    /// The conditions between two nodes at rest (DESIGN, Outcomes).
    void expect_balanced(const std::string& one, const std::string& other) const {
        for (const auto& [asker, giver] : {std::pair(one, other), std::pair(other, one)}) {
            const auto asked = seen(asker, giver);
            const auto given = seen(giver, asker).served;
            EXPECT_LE(asked.hits, given);
            EXPECT_LE(given, asked.hits + asked.too_old + asked.failures);
        }
    }
};

TEST_F(Peers, AnswerForOneAnotherInOneRoundTrip) {
    start_cluster(3);
    store("a", "/one");
    const auto answer = get("b", "/one");
    EXPECT_EQ(answer.body, "body of /one");
    EXPECT_TRUE(answer.cache_status().starts_with("a; hit; ttl="))
        << answer.cache_status();  // RFC 9211: each hop
    EXPECT_TRUE(answer.cache_status().find(", b; fwd=uri-miss; stored; ttl=") !=
                    std::string::npos &&
                answer.cache_status().ends_with("; detail=PEER_a"))
        << answer.cache_status();
    EXPECT_FALSE(answer.field("Age").empty());  // it came out of a cache
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(seen("b", "a").asked, 1u);
    EXPECT_EQ(seen("b", "c").asked, 0u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(status("b").work.peer_requests, 1u);
    EXPECT_EQ(status("a").work.total(), 1u);  // a peer request is no client's request
    EXPECT_TRUE(contains(get("b", "/one").cache_status(), "hit"))
        << "copy policy `always` keeps a copy";
    expect_balanced("a", "b");
}

TEST_F(Peers, PeersGetNoRequestForAKeyThatNoneHas) {
    start_cluster(3);
    for (int i = 0; i < 50; ++i) get("a", "/" + std::to_string(i));
    EXPECT_EQ(status("a").work.peer_requests, 0u);
    EXPECT_EQ(origin.requests(), 50u);
}

TEST_F(Peers, KeepNoCopyWhenTheCopyPolicyIsNever) {
    start_pair(CopyPolicy::never);
    store("a", "/one");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(count("b", Outcome::peer_hit), 2u);
    EXPECT_EQ(status("b").cache.objects, 0u);
    expect_balanced("a", "b");
}

TEST_F(Peers, KeepACopyAtTheSecondUseWhenThePolicySaysSo) {
    start_pair(CopyPolicy::second_use);
    store("a", "/one");
    get("b", "/one");
    EXPECT_EQ(status("b").cache.objects, 0u);
    get("b", "/one");
    EXPECT_TRUE(contains(get("b", "/one").cache_status(), "hit"));
}

TEST_F(Peers,
       AreBelievedNoMoreThanTheyAnswer) {  // a false hit costs one peer request; the origin answers
    start_cluster(2);
    store("a", "/one");
    const auto objects = seen("b", "a").objects;
    ASSERT_EQ(objects, 1u);
    auto held = client("b");  // b asks a after a has dropped it, before b hears of that
    auto settings = config("b", 2);
    client("a").ask("POST", "/one", "", "x");  // invalidates at a
    const auto answer = held.get("/one");
    EXPECT_EQ(answer.body, "body of /one");
    const auto peer = seen("b", "a");
    EXPECT_EQ(peer.asked, peer.false_hits);
    EXPECT_EQ(peer.failures, 0u);
    EXPECT_EQ(count("b", Outcome::origin_fetch), 1u);
}

TEST_F(Peers, FetchFromTheOriginWhenThePeerHasAnotherVariant) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh("Vary: Accept-Language\r\n"), e.field("Accept-Language"));
    });
    start_cluster(2);
    const auto before = status("a").summary.objects;
    get("a", "/one", "Accept-Language: de\r\n");
    ASSERT_TRUE(
        eventually([&] { return status("a").summary.objects > before && announced("a", 1); }));
    EXPECT_EQ(get("b", "/one", "Accept-Language: fr\r\n").body, "fr");
    EXPECT_EQ(seen("b", "a").refused, 1u);
    EXPECT_EQ(seen("b", "a").false_hits, 0u);  // only `absent` is one
    EXPECT_EQ(get("b", "/one", "Accept-Language: de\r\n").body, "de");
}

TEST_F(Peers, FindAVariantByAFieldThatTheyAreNotTold) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh("Vary: Cookie, X-Api-Key, Accept-Language\r\n"),
                 e.field("Cookie") + e.field("X-Api-Key") + e.field("Accept-Language"));
    });
    start_cluster(2);
    const std::string mine = "X-Api-Key: k\r\nAccept-Language: de\r\nCookie: sid=1\r\n";
    get("a", "/one", mine);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/one", "X-Api-Key: k\r\nAccept-Language: de\r\n").body, "kde");
    EXPECT_EQ(seen("b", "a").refused, 1u);
    const auto given = get("b", "/one", mine + "User-Agent: other\r\n");
    EXPECT_EQ(seen("b", "a").refused, 2u) << "the hashes of Cookie and X-Api-Key lacked";
    EXPECT_EQ(given.body, "sid=1kde");
    EXPECT_TRUE(contains(given.cache_status(), "PEER_a")) << given.cache_status();
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(get("b", "/one", mine).body, "sid=1kde");  // a copy for the request's own values
    EXPECT_EQ(seen("b", "a").asked, 3u);
    get("a", "/two", mine);
    ASSERT_TRUE(eventually([&] { return announced("a", 2); }));
    EXPECT_TRUE(contains(get("b", "/two", mine).cache_status(), "PEER_a"));
    EXPECT_EQ(seen("b", "a").asked, 4u) << "node b knows what responses of this site vary by";
    EXPECT_EQ(get("b", "/one", "Cookie: sid=2\r\n").body, "sid=2");
    expect_balanced("a", "b");
}

TEST_F(Peers, AreNotAskedWhenTheClientWantsItFromTheOrigin) {  // RFC 9111 §5.2.1.4
    start_cluster(2);
    store("a", "/one");
    EXPECT_EQ(get("b", "/one", "Cache-Control: no-cache\r\n").status, 200u);
    EXPECT_EQ(seen("b", "a").asked, 0u);
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Peers, ProveThemselvesByTheTokenOfTheirLink) {
    start_cluster(2);
    store("a", "/one");
    // A mere pretender is a client like any other: it gets the page, and nothing is booked as
    // given.
    const auto pretended = get("a", "/one", "Hearsay-Peer: b 00000000000000000000000000000000\r\n");
    EXPECT_EQ(pretended.status, 200u);
    EXPECT_EQ(seen("a", "b").served, 0u);
    EXPECT_EQ(count("a", Outcome::local_hit), 1u);
    get("a", "/two", "Hearsay-Peer: b 00000000000000000000000000000000\r\n");
    for (const auto& head : origin.heads()) EXPECT_EQ(field_of(head, "Hearsay-Peer"), "") << head;
}

/// Asks node a as node b does, with the token that b's link has from a.
class AskedByAPeer : public Peers {
protected:
    void SetUp() override {
        encrypt = false;
        auto settings = config("b", 2);
        settings.cluster->peers.front().http = {"127.0.0.1", stand_in.port()};
        start(config("a", 2));
        start(settings);
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
        store("a", "/token");
        get("b", "/token");
        ASSERT_EQ(stand_in.requests(), 1u);
        proof = "Hearsay-Peer: " + field_of(stand_in.heads().front(), "Hearsay-Peer") + "\r\n";
    }
    Answer ask(std::string_view target, const std::string& fields = {}) const {
        return get("a", target, proof + "Cache-Control: only-if-cached\r\n" + fields);
    }
    void expect_refused(std::string_view target, std::string_view reason) const {
        const auto answer = ask(target);
        EXPECT_EQ(answer.status, 504u);
        EXPECT_TRUE(answer.cache_status().ends_with("detail=" + std::string(reason)))
            << answer.cache_status();
    }
    std::uint64_t given() const { return seen("a", "b").served; }

    ScriptedOrigin stand_in{[](Exchange& e) {
        e.answer("Cache-Status: a; fwd=uri-miss; detail=absent\r\n", "", "504 No");
    }};
    std::string proof;
};

TEST_F(AskedByAPeer, AnswersFromTheStoreAndBooksIt) {
    const auto answer = ask("/token");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.body, "body of /token");
    EXPECT_FALSE(answer.field("Age").empty());
    EXPECT_EQ(given(), 1u);
}

TEST_F(AskedByAPeer, TakesOnlyGetAndHeadWithoutABodyForAPeerRequest) {
    const auto before = origin.requests();
    for (const auto* method : {"PURGE", "POST", "PUT", "DELETE", "OPTIONS"})
        EXPECT_EQ(client("a").ask(method, "/token", proof).status, 400u) << method;
    for (const auto* method : {"GET", "POST"}) {
        auto client = this->client("a");
        EXPECT_EQ(client.ask(method, "/token", proof, "body").status, 400u) << method;
        EXPECT_TRUE(client.at_end()) << "its body was not read";
    }
    EXPECT_EQ(given(), 0u);
    EXPECT_EQ(origin.requests(), before);
    EXPECT_EQ(ask("/token").status, 200u) << "still stored";
}

TEST_F(AskedByAPeer, SaysByHeadWhetherItWouldGiveAnythingAndBooksNothing) {
    const auto before = origin.requests();
    auto head = [&](std::string_view target) {
        auto client = this->client("a");
        client.begin("HEAD", target, proof);
        return client.read(true);
    };
    const auto there = head("/token");
    EXPECT_EQ(there.status, 200u);
    EXPECT_EQ(there.field("ETag"), "") << "nothing of what is stored";
    const auto absent = head("/never");
    EXPECT_EQ(absent.status, 504u);
    EXPECT_TRUE(contains(absent.cache_status(), "detail=absent")) << absent.cache_status();
    EXPECT_EQ(given(), 0u);
    EXPECT_EQ(origin.requests(), before);
}

TEST_F(AskedByAPeer, SaysWhyNotAndNeverAsksAnybody) {
    const auto before = origin.requests();
    expect_refused("/never", "absent");
    EXPECT_EQ(origin.requests(), before);
    EXPECT_EQ(given(), 0u);
}

TEST_F(AskedByAPeer, RefusesWhatIsStale) {
    const auto scripted = origin.set(
        [](Exchange& e) { e.answer("Cache-Control: max-age=0\r\nETag: \"v\"\r\n", "x"); });
    get("a", "/stale");
    expect_refused("/stale", "stale");
}

TEST_F(AskedByAPeer, RefusesAnotherVariant) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh("Vary: Accept-Language\r\n"), "x"); });
    get("a", "/varies", "Accept-Language: de\r\n");
    expect_refused("/varies", "variant");
    EXPECT_EQ(ask("/varies", "Accept-Language: de\r\n").status, 200u);
}

TEST_F(AskedByAPeer, IsToldNothingThatTheClientsFieldsSay) {  // peers speak in the clear
    store("a", "/one");
    get("b", "/one",
        "Authorization: Basic c2VjcmV0\r\nCookie: sid=secret\r\nX-Api-Key: secret\r\n"
        "Referer: http://x/?token=secret\r\nCache-Control: max-age=900, token=secret\r\n"
        "Accept-Language: de\r\nHearsay-Fields: x=secret\r\nAuthorization2: secret\r\n");
    ASSERT_EQ(stand_in.requests(), 2u);
    const auto head = stand_in.heads().back();
    EXPECT_EQ(head.find("secret"), std::string::npos) << head;
    EXPECT_EQ(head.find("c2VjcmV0"), std::string::npos) << head;
    for (const auto* name : {"Authorization", "Cookie", "X-Api-Key", "Referer"})
        EXPECT_EQ(field_of(head, name), "") << head;
    EXPECT_EQ(field_of(head, "Accept-Language"), "de");
    EXPECT_EQ(field_of(head, "Cache-Control"), "only-if-cached, max-age=900");
    const auto hashes = field_of(head, "Hearsay-Fields");
    for (const auto* name : {"authorization,", "cookie,", "x-api-key,", "referer,"})
        EXPECT_TRUE(contains(hashes, name)) << hashes;
    EXPECT_FALSE(contains(hashes, "=")) << "no response varies by them, so no peer needs a hash";
    EXPECT_EQ(field_of(origin.heads().back(), "Cookie"), "sid=secret");  // which may know
    EXPECT_EQ(field_of(origin.heads().back(), "Hearsay-Fields"), "");
}

TEST_F(AskedByAPeer, DoesNotGiveWhatMayBeForOneClientAlone) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer("ETag: \"v\"\r\nLast-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n",
                 "page of " + e.field("Cookie"));
    });
    get("a", "/page", "Cookie: one\r\n");
    const auto refused = ask("/page");
    EXPECT_EQ(refused.status, 504u);
    EXPECT_EQ(refused.cache_status(), "a; detail=stale");
    EXPECT_EQ(refused.field("ETag"), "") << "nothing to validate it with on another's behalf";
    proof.insert(proof.size() - 2, " stale");
    EXPECT_EQ(ask("/page").status, 504u);
    get("a", "/page");
    EXPECT_EQ(ask("/page").status, 200u);  // it was fetched for everybody now
}

TEST_F(AskedByAPeer, KnowsAVariantByTheHashOfItsField) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh("Vary: Cookie\r\n"), e.field("Cookie")); });
    get("a", "/varies", "Cookie: sid=1\r\n");
    FieldHasher hash(protocol::field_key(config("a", 2).cluster->keys.back()),
                     "http://origin.test/varies");
    const auto fields = [&](std::string_view value) {
        return "Hearsay-Fields: cookie=" + hash("cookie", value) + "\r\n";
    };
    EXPECT_EQ(ask("/varies", fields("sid=1")).body, "sid=1");
    EXPECT_EQ(ask("/varies", fields("sid=2")).status, 504u);
    EXPECT_EQ(ask("/varies", "Hearsay-Fields: cookie=1\r\n").status, 504u);
    EXPECT_EQ(ask("/varies", "Hearsay-Fields: x=y\r\nCookie: sid=1\r\n").status, 504u);
    const auto name_alone = ask("/varies", "Hearsay-Fields: cookie, x-other\r\n");
    EXPECT_EQ(name_alone.status, 504u);
    EXPECT_EQ(name_alone.field("Vary"), "cookie") << "whose hash the peer should send";
    EXPECT_EQ(ask("/varies", fields("sid=2")).field("Vary"), "") << "it has";
    // Knowledge of a hash alone gets a client nothing, and the hash goes no further.
    EXPECT_EQ(get("a", "/varies", fields("sid=1")).body, "");
    EXPECT_EQ(field_of(origin.heads().back(), "Hearsay-Fields"), "");
}

TEST_F(AskedByAPeer, LetsItFollowAFillOnceItsHeadIsThere) {
    Gate head, half;
    const auto scripted = origin.set([&](Exchange& e) {
        head.wait();
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 8\r\n") + "\r\nhalf");
        half.wait();
        e.send("half");
    });
    auto leader = client("a");
    leader.begin("GET", "/one");
    ASSERT_TRUE(head.wait_for(1));
    expect_refused("/one", "busy");
    head.open();
    ASSERT_TRUE(leader.read_at_least(1));
    auto follower = client("a");
    follower.begin("GET", "/one", proof + "Cache-Control: only-if-cached\r\n");
    ASSERT_TRUE(follower.read_at_least(4));  // while the rest is still at the origin
    half.open();
    EXPECT_EQ(follower.read().body, "halfhalf");
    EXPECT_EQ(leader.read().body, "halfhalf");
    EXPECT_EQ(given(), 1u);
}

TEST_F(AskedByAPeer, IsNotFooledByATokenOfAnEarlierInstance) {
    kill("a");
    start(config("a", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(ask("/token").status, 504u);  // as for any client: only-if-cached, and not there
    get("a", "/token");
    EXPECT_EQ(ask("/token").status, 200u);
    EXPECT_EQ(given(), 0u);
    EXPECT_EQ(status("a").work.total(), 3u);  // they count as clients
}

TEST_F(Peers, GoOnAtTheOriginWhenAPeerDiesInsideABody) {
    constexpr std::size_t kBytes = 60'000'000;
    std::string whole(kBytes, '\0');
    for (std::size_t i = 0; i < kBytes; ++i) whole[i] = static_cast<char>('a' + i / 1000 % 26);
    std::string range;
    const auto scripted = origin.set([&](Exchange& e) {
        range = e.field("Range");
        if (range.empty()) return e.answer(fresh("ETag: \"v1\"\r\n"), whole);
        const auto from = std::stoull(range.substr(6));
        EXPECT_EQ(e.field("If-Range"), "\"v1\"");
        e.answer(fresh("ETag: \"v1\"\r\nContent-Range: bytes " + std::to_string(from) + '-' +
                       std::to_string(kBytes - 1) + '/' + std::to_string(kBytes) + "\r\n"),
                 std::string_view(whole).substr(from), "206 Partial Content");
    });
    for (const auto* name : {"a", "b"}) {
        auto settings = config(name, 2);
        settings.cache.memory = 256 << 20;
        settings.cluster->copy =
            CopyPolicy::never;  // b passes it on in a window, as slowly as its client reads
        start(settings);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    store("a", "/one");
    auto slow = client("b");
    slow.begin("GET", "/one");
    ASSERT_TRUE(slow.read_at_least(100'000));
    kill("a");
    const auto answer = slow.read();
    EXPECT_TRUE(answer.complete);
    EXPECT_TRUE(answer.body == whole);
    EXPECT_FALSE(range.empty());
    EXPECT_EQ(origin.requests(), 2u);
    const auto work = status("b").work;
    EXPECT_EQ(work.bytes_from_peers + work.bytes_from_origins, kBytes);
    EXPECT_EQ(work.bytes_to_clients, kBytes);
    EXPECT_EQ(count("b", Outcome::origin_fetch), 1u);  // where most of it came from
}

class CutShort : public Peers, public ::testing::WithParamInterface<std::string> {};

TEST_P(CutShort, CutsTheClientWhenTheRestCannotBeHad) {  // never a short body passed as whole
    const std::string whole(60'000'000, 'x');
    const auto scripted = origin.set([&](Exchange& e) {
        const auto range = e.field("Range");
        if (range.empty()) return e.answer(fresh(GetParam()), whole);
        const auto from = range.substr(6, range.size() - 7);  // another end than the whole's
        const auto to = std::to_string(std::stoull(from) + 99);
        e.answer(GetParam() + "Content-Range: bytes " + from + '-' + to + "/60000000\r\n",
                 std::string(100, 'x'), "206 Partial Content");
    });
    start_pair(CopyPolicy::never);
    store("a", "/one");
    auto slow = client("b");
    slow.begin("GET", "/one");
    ASSERT_TRUE(slow.read_at_least(100'000));
    kill("a");
    EXPECT_FALSE(slow.read().complete);
}

INSTANTIATE_TEST_SUITE_P(Origins, CutShort, ::testing::Values("", "ETag: \"v1\"\r\n"),
                         [](const auto& each) {
                             return each.param.empty() ? "no_validator" : "wrong_range";
                         });

TEST_F(Peers, DoNotBringBackWhatAnUnsafeMethodChanged) {
    start_cluster(2);
    store("a", "/one");
    store("b", "/one");  // a copy of a's
    EXPECT_EQ(client("a").ask("POST", "/one", "", "x").status, 200u);
    const auto scripted = origin.set([](Exchange& e) { e.answer(fresh(), "new"); });
    EXPECT_EQ(get("a", "/one").body, "new");
}

TEST_F(Peers, AreNotBlamedForAClientThatLeaves) {
    const std::string whole(30'000'000, 'x');
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), whole); });
    start_pair(CopyPolicy::never);
    store("a", "/one");
    auto leaver = client("b");
    leaver.begin("GET", "/one");
    ASSERT_TRUE(leaver.read_at_least(100'000));
    leaver.socket.reset();
    EXPECT_TRUE(eventually([&] { return seen("b", "a").hits == 1; }));
    EXPECT_EQ(seen("b", "a").failures, 0u);
    expect_balanced("a", "b");
}

TEST_F(Peers, GiveAStored504AsAnyOtherAnswer) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh(), "late", "504 Gateway Timeout"); });
    start_cluster(2);
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return status("a").summary.objects == 1 && announced("a", 1); }));
    EXPECT_EQ(get("b", "/one").body, "late");
    EXPECT_EQ(seen("b", "a").hits, 1u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Peers, AreLeftAloneForAWhileWhenTheyDoNotAnswer) {
    auto settings = config("b", 2);
    settings.cluster->gone_after =
        std::chrono::seconds(60);  // the link stands: only the proxy port is dead
    set_peer_budget(std::chrono::milliseconds(50));
    settings.cluster->peers.front().http.port = 1;  // nobody there
    start(config("a", 2));
    start(settings);
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    for (int i = 0; i < 20; ++i) store("a", "/" + std::to_string(i));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(get("b", "/" + std::to_string(i)).status, 200u);
    const auto peer = seen("b", "a");
    EXPECT_GE(peer.failures, 1u);
    EXPECT_LT(peer.asked, 20u);  // the breaker opened
    EXPECT_EQ(count("b", Outcome::origin_fetch), 20u);
}

TEST_F(Peers, ServeOnWhenOneOfThemIsKilledAndComeBackIntoStep) {
    start_cluster(3);
    store("c", "/one");
    kill("c");
    EXPECT_EQ(get("a", "/one").status, 200u);
    EXPECT_EQ(get("b", "/one").status, 200u);
    start(config("c", 3));
    EXPECT_TRUE(eventually([&] { return in_sync("a") && in_sync("b") && in_sync("c"); }));
    EXPECT_EQ(seen("a", "c").objects, 0u);  // it came back empty, and that is known
    store("c", "/two");
    EXPECT_TRUE(contains(get("a", "/two").cache_status(), "PEER_c"));
}

TEST_F(Peers, CountAnnouncementsApartFromAllElseOnTheirLinks) {
    start_cluster(2);
    for (const auto* target : {"/1", "/2", "/3"}) store("a", target);
    ASSERT_TRUE(eventually([&] {
        return status("a").cluster.announcement_bytes_sent ==
               status("b").cluster.announcement_bytes_received;
    }));
    const auto links = status("a").cluster;
    EXPECT_GT(links.announcement_bytes_sent, 0u);
    EXPECT_GT(links.bytes_sent, links.announcement_bytes_sent);
    EXPECT_TRUE(contains(admin("a", "/metrics").body,
                         "hearsay_announcement_bytes_total{direction=\"sent\"} " +
                             std::to_string(links.announcement_bytes_sent) + '\n'));
}

TEST_F(Peers, KeepBalancedBooks) {
    start_cluster(3);
    const std::vector<std::string> names{"a", "b", "c"};
    std::uint64_t sent = 0;
    std::uint32_t random = 7;
    for (int i = 0; i < 600; ++i) {
        random = random * 1664525 + 1013904223;
        const auto& node = names[(random >> 8) % 3];
        EXPECT_EQ(get(node, "/" + std::to_string((random >> 16) % 150)).status, 200u);
        ++sent;
    }
    std::uint64_t total = 0, fetched = 0;
    for (const auto& name : names) {
        const auto now = status(name);
        total += now.work.total();
        fetched += now.work.requests[Outcome::origin_fetch];
        EXPECT_EQ(now.work.requests[Outcome::error], 0u);
    }
    EXPECT_EQ(total, sent);
    EXPECT_EQ(fetched, origin.requests());
    expect_balanced("a", "b");
    expect_balanced("a", "c");
    expect_balanced("b", "c");
}

}  // namespace peers_test
}  // namespace proxy::test
