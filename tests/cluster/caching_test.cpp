#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace caching_test {

using ::testing::Test;

class Caching : public NodesTest {};

TEST_F(Caching, AnswersTheSecondRequestFromTheStore) {
    start(config("a"));
    const auto miss = get("a", "/one");
    EXPECT_EQ(miss.status, 200u);
    EXPECT_EQ(miss.body, "body of /one");
    EXPECT_EQ(miss.cache_status(), "a; fwd=uri-miss; stored; ttl=1000");
    const auto hit = get("a", "/one");
    EXPECT_EQ(hit.body, "body of /one");
    EXPECT_TRUE(hit.cache_status().starts_with("a; hit; ttl=")) << hit.cache_status();
    EXPECT_FALSE(hit.field("Age").empty());  // RFC 9111 §5.1
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(count("a", Outcome::local_hit), 1u);
    EXPECT_EQ(count("a", Outcome::origin_fetch), 1u);
}

TEST_F(Caching, MakesOneKeyOfBothFormsOfATarget) {
    start(config("a"));
    get("a", "/one");
    EXPECT_TRUE(contains(get("a", "http://ORIGIN.test:80/one").cache_status(), "hit"));
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Caching, ValidatesWhatIsStaleAndKeepsItAfter304) {  // RFC 9111 §4.3.3, §4.3.4
    const auto scripted = origin.set([](Exchange& e) {
        if (e.field("If-None-Match") == "\"v1\"")
            e.send(
                "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=500\r\nX-New: "
                "1\r\n\r\n");
        else
            e.answer("Cache-Control: max-age=0\r\nETag: \"v1\"\r\n", "text");
    });
    start(config("a"));
    get("a", "/one");
    const auto validated = get("a", "/one");
    EXPECT_EQ(validated.status, 200u);
    EXPECT_EQ(validated.body, "text");
    EXPECT_TRUE(contains(validated.cache_status(), "fwd=stale; fwd-status=304"))
        << validated.cache_status();
    EXPECT_EQ(validated.field("X-New"), "1");
    const auto hit = get("a", "/one");
    EXPECT_TRUE(contains(hit.cache_status(), "hit"));
    EXPECT_EQ(hit.field("X-New"), "1");
    EXPECT_EQ(hit.body, "text");
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(count("a", Outcome::local_hit), 2u);  // DESIGN: validated by 304 is a local hit
}

TEST_F(Caching, ReplacesWhatIsStaleAndChanged) {
    std::atomic<int> version = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        e.answer(
            "Cache-Control: max-age=0\r\nETag: \"v" + std::to_string(version.load()) + "\"\r\n",
            std::to_string(version.load()));
    });
    start(config("a"));
    EXPECT_EQ(get("a", "/one").body, "0");
    version = 1;
    const auto changed = get("a", "/one");
    EXPECT_EQ(changed.body, "1");
    EXPECT_TRUE(contains(changed.cache_status(), "fwd=stale; stored")) << changed.cache_status();
    EXPECT_EQ(count("a", Outcome::origin_fetch), 2u);
    EXPECT_EQ(status("a").cache.objects, 1u);
}

TEST_F(Caching, PassesAPostWithItsBodyAndForgetsTheTarget) {  // RFC 9111 §4.4
    start(config("a"));
    get("a", "/one");
    std::string received;
    const auto scripted = origin.set([&](Exchange& e) {
        received = e.body;
        e.answer("", "posted");
    });
    const auto posted = client().ask("POST", "/one", "Content-Type: text/plain\r\n", "some text");
    EXPECT_EQ(posted.body, "posted");
    EXPECT_EQ(received, "some text");
    EXPECT_EQ(count("a", Outcome::uncacheable), 1u);
    const auto then = origin.set([](Exchange& e) { e.answer(fresh(), "new"); });
    EXPECT_EQ(get("a", "/one").body, "new");
}

TEST_F(Caching, StreamsAChunkedRequestBody) {
    std::string received;
    const auto scripted = origin.set([&](Exchange& e) {
        received = e.body;
        e.answer("", "ok");
    });
    start(config("a"));
    auto connection = client();
    connection.socket.send(
        "POST /one HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    connection.socket.send("2\r\nde\r\n0\r\n\r\n");
    EXPECT_EQ(connection.read().body, "ok");
    EXPECT_TRUE(contains(received, "abc") && contains(received, "de")) << received;
    EXPECT_EQ(connection.get("/two").body, "ok");
}

TEST_F(Caching, LeavesHopByHopFieldsBehind) {  // RFC 9110 §7.6.1
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh("Connection: X-Answer-Hop\r\nX-Answer-Hop: 1\r\nKeep-Alive: "
                       "timeout=5\r\nX-End: kept\r\n"),
                 "text");
    });
    start(config("a"));
    const auto answer = get("a", "/one",
                            "Connection: X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nProxy-Connection: "
                            "keep-alive\r\nX-End: 2\r\n");
    const auto head = origin.heads().front();
    EXPECT_EQ(field_of(head, "X-Hop"), "");
    EXPECT_EQ(field_of(head, "TE"), "");
    EXPECT_EQ(field_of(head, "Proxy-Connection"), "");
    EXPECT_EQ(field_of(head, "X-End"), "2");
    EXPECT_EQ(field_of(head, "Host"), "origin.test");
    EXPECT_EQ(field_of(head, "Via"), "1.1 a");  // RFC 9110 §7.6.3
    EXPECT_EQ(answer.field("X-Answer-Hop"), "");
    EXPECT_EQ(answer.field("Keep-Alive"), "");
    EXPECT_EQ(answer.field("X-End"), "kept");
    EXPECT_EQ(get("a", "/one").field("X-End"), "kept");
}

TEST_F(Caching, Answers502WhenTheOriginIsAway) {
    start(config("a"));
    origin.die();
    const auto answer = get("a", "/one");
    EXPECT_EQ(answer.status, 502u);
    EXPECT_TRUE(contains(answer.cache_status(), "connect")) << answer.cache_status();
    EXPECT_EQ(count("a", Outcome::error), 1u);
}

TEST_F(Caching, AnswersPipelinedRequestsInOrder) {  // RFC 9112 §9.3.2
    start(config("a"));
    get("a", "/2");
    auto connection = client();
    for (const auto* target : {"/1", "/2", "/3"}) connection.begin("GET", target);
    EXPECT_EQ(connection.read().body, "body of /1");
    EXPECT_EQ(connection.read().body, "body of /2");
    EXPECT_EQ(connection.read().body, "body of /3");
}

TEST_F(Caching, StoresAChunkedAnswerWithItsLength) {
    Gate rest;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nTransfer-Encoding: chunked\r\n\r\n");
        e.send("4\r\nfour\r\n");
        rest.wait();
        e.send("5;ext=1\r\n five\r\n0\r\nX-Trailer: 1\r\n\r\n");
    });
    start(config("a"));
    auto first = client();
    first.begin("GET", "/one");
    ASSERT_TRUE(first.read_at_least(4));
    rest.open();
    const auto miss = first.read();
    EXPECT_EQ(miss.field("Transfer-Encoding"), "chunked");
    EXPECT_EQ(miss.body, "four five");
    const auto hit = get("a", "/one");
    EXPECT_EQ(hit.field("Content-Length"), "9");
    EXPECT_EQ(hit.body, "four five");
}

TEST_F(Caching, NeverPassesAShortBodyAsWhole) {  // RFC 9112 §8
    const auto scripted = origin.set([](Exchange& e) {
        e.send(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 100\r\n\r\nonly "
            "this");
        e.keep = false;
    });
    start(config("a"));
    const auto answer = get("a", "/one");
    EXPECT_TRUE(answer.status == 502 ||
                !answer.complete);  // 502: it was known before the head went
    EXPECT_EQ(status("a").cache.objects, 0u);
    get("a", "/one");
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Caching, SaysStoredWhereThatIsCertain) {  // RFC 9211 §2.5
    Gate rest;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.method == "POST") return e.answer("", "posted");
        if (e.target == "/small") return e.answer(fresh(), "small");
        if (e.target == "/purged") {
            rest.wait();
            return e.answer(fresh(), "purged");
        }
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 8\r\n\r\nhalf"));
        rest.wait();
        if (e.target == "/whole") return e.send("half");
        e.keep = false;
    });
    start(config("a"));
    EXPECT_TRUE(contains(get("a", "/small").cache_status(), "; stored"));
    auto whole = client(), broken = client(), purged = client();
    whole.begin("GET", "/whole");
    broken.begin("GET", "/broken");
    purged.begin("GET", "/purged");
    ASSERT_TRUE(whole.read_at_least(4));  // their heads are out
    ASSERT_TRUE(broken.read_at_least(4));
    ASSERT_TRUE(rest.wait_for(3));
    client().ask("POST", "/purged", "", "x");
    rest.open();
    const auto in_the_end = whole.read(), cut = broken.read(), gone = purged.read();
    EXPECT_EQ(in_the_end.body, "halfhalf");
    EXPECT_FALSE(cut.complete);
    EXPECT_EQ(gone.body, "purged");
    for (const auto* answer : {&in_the_end, &cut, &gone})
        EXPECT_FALSE(contains(answer->cache_status(), "stored")) << answer->cache_status();
    EXPECT_TRUE(contains(get("a", "/whole").cache_status(), "hit"));  // it was stored
}

TEST_F(Caching, ResetsAClientOfHttp10WhenTheBodyIsShort) {  // its end would mean that it is whole
    Gate half;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n");
        half.wait();
        e.keep = false;
    });
    start(config("a"));
    auto connection = client();
    connection.socket.send("GET /one HTTP/1.0\r\nHost: origin.test\r\n\r\n");
    EXPECT_TRUE(connection.read_at_least(4));
    half.open();
    EXPECT_FALSE(connection.read().complete);
}

TEST_F(Caching, KeepsWithheldFieldsOfA304ForItsClient) {  // RFC 9111 §5.2.2.7
    std::atomic<int> validations = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        const std::string fields =
            "Cache-Control: max-age=0, private=\"Set-Cookie\"\r\nETag: \"v\"\r\n";
        if (e.field("If-None-Match").empty()) return e.answer(fields, "text");
        const auto number = std::to_string(++validations);
        e.send("HTTP/1.1 304 Not Modified\r\nAge: 7\r\nSet-Cookie: sid=" + number + "\r\n" +
               (number == "1" ? fields : "ETag: \"v\"\r\n") + "\r\n");
    });
    start(config("a"));
    get("a", "/one");
    EXPECT_EQ(get("a", "/one").field("Set-Cookie"), "sid=1");
    const auto next = get("a", "/one");
    EXPECT_EQ(next.field("Set-Cookie"), "sid=2");
    EXPECT_EQ(next.head.find("sid=1"), std::string::npos) << next.head;
    EXPECT_EQ(next.head.find("Age:"), next.head.rfind("Age:")) << next.head;
}

TEST_F(Caching, Answers304ForWhatIsNotStored) {  // RFC 9110 §13.2
    const auto scripted = origin.set(
        [](Exchange& e) { e.answer("Cache-Control: private\r\nETag: \"v\"\r\n", "text"); });
    start(config("a"));
    EXPECT_EQ(get("a", "/one", "If-None-Match: \"v\"\r\n").status, 304u);
    EXPECT_EQ(get("a", "/one", "If-None-Match: \"w\"\r\n").status, 200u);
}

TEST_F(Caching, TakesHostForAPartOfTheKeyWhenAnAnswerVariesOnIt) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh("Vary: Host\r\n"), "text"); });
    start(config("a"));
    get("a", "/one");
    EXPECT_TRUE(contains(get("a", "/one").cache_status(), "hit"));
}

TEST_F(Caching, ForwardsOneLength) {  // RFC 9112 §6.3
    start(config("a"));
    auto connection = client();
    connection.socket.send("POST /one HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\n12345");
    const auto answer = connection.read();
    if (answer.status == 400u) return;  // just as good
    ASSERT_EQ(origin.requests(), 1u);
    EXPECT_EQ(field_of(origin.heads().front(), "Content-Length"), "5");
}

TEST_F(Caching, ExplainsABadRequestAfterAHead) {
    start(config("a"));
    auto connection = client();
    connection.ask("HEAD", "/one");
    connection.socket.send("bad\r\n\r\n");
    const auto answer = connection.read();
    EXPECT_EQ(answer.status, 400u);
    EXPECT_TRUE(answer.complete);
}

TEST_F(Caching, ServesAClientOfHttp10) {
    start(config("a"));
    auto connection = client();
    connection.socket.send("GET /one HTTP/1.0\r\nHost: origin.test\r\n\r\n");
    const auto answer = connection.read();
    EXPECT_EQ(answer.body, "body of /one");
    EXPECT_TRUE(connection.at_end());
}

TEST_F(Caching, KeepsMemoryUnderItsCap) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh(), std::string(100'000, 'x')); });
    auto small = config("a");
    small.cache.memory = 2 << 20;
    start(small);
    auto connection = client();
    for (int i = 0; i < 60; ++i) {
        ASSERT_EQ(connection.get("/" + std::to_string(i)).body.size(), 100'000u);
        ASSERT_LE(status("a").cache.memory_bytes, small.cache.memory);
    }
    EXPECT_GT(status("a").cache.evictions, 30u);
    EXPECT_GE(status("a").cache.objects, 10u);
}

TEST_F(Caching, PassesWhatIsTooLargeWithoutStoringItOrEvictingAnything) {
    const std::string large(3 << 20, 'x');
    auto small = config("a");
    small.cache.memory = 4 << 20;  // half of it is the most for one object
    start(small);
    get("a", "/kept");
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/sized") return e.answer(fresh(), large);
        e.send("HTTP/1.1 200 OK\r\n" + fresh() + "\r\n" +
               large);  // only its end says how long it is
        e.keep = false;
    });
    for (const auto* target : {"/sized", "/unsized"}) {
        const auto answer = get("a", target);
        EXPECT_TRUE(answer.complete);
        EXPECT_EQ(answer.body, large);
    }
    EXPECT_EQ(status("a").cache.objects, 1u);
    EXPECT_EQ(status("a").cache.evictions, 0u);
}

class Forwarding : public NodesTest {
protected:
    void start_forward(Destinations destinations) {
        auto settings = config("a");
        settings.origins.clear();
        settings.forward.enabled = true;
        settings.forward.private_destinations = destinations;
        start(settings);
    }
};

TEST_F(Forwarding, FetchesAnAbsoluteTargetAndStoresIt) {
    start_forward(Destinations::allow);
    EXPECT_EQ(get("a", url("/one")).body, "body of /one");
    EXPECT_TRUE(contains(get("a", url("/one")).cache_status(), "hit"));
    const auto head = origin.heads().front();
    EXPECT_TRUE(head.starts_with("GET /one HTTP/1.1\r\n")) << head;
    EXPECT_EQ(field_of(head, "Host"),
              origin_authority());  // RFC 9112 §3.2.2
}

TEST_F(Forwarding, RefusesPrivateDestinationsByDefault) {
    start_forward(Destinations::deny);
    const auto refused = get("a", url("/one"));
    EXPECT_EQ(refused.status, 403u);
    EXPECT_EQ(refused.cache_status(), "a; detail=not_allowed");  // nothing went forward
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(Forwarding, SaysWhatIsMissingForATargetWithoutAHost) {
    start_forward(Destinations::deny);
    const auto answer = get("a", "/one");
    EXPECT_GE(answer.status, 400u);
    EXPECT_TRUE(contains(answer.body, "origin")) << answer.body;
}

struct Malformed {
    const char* name;
    std::string bytes;
    unsigned status;
};
class Refusing : public NodesTest, public ::testing::WithParamInterface<Malformed> {};

TEST_P(Refusing, AnswersAndClosesWithoutAskingTheOrigin) {
    start(config("a"));
    auto connection = client();
    connection.socket.send(GetParam().bytes);
    EXPECT_EQ(connection.read().status, GetParam().status);
    EXPECT_TRUE(connection.at_end());
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(count("a", Outcome::error), 1u);
    EXPECT_EQ(status("a").work.total(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Requests, Refusing,
    ::testing::Values(
        Malformed{"two_lengths",
                  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                  400},
        Malformed{"length_and_chunks",
                  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n0\r\n\r\n",
                  400},
        Malformed{"no_host", "GET / HTTP/1.1\r\n\r\n", 400},
        Malformed{"two_hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        Malformed{"space_before_colon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
        Malformed{"folded_line", "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", 400},
        Malformed{"bare_newline", "GET / HTTP/1.1\nHost: h\n\n", 400},
        Malformed{"zero_byte",
                  "GET / HTTP/1.1\r\nHost: h\r\nX: a" + std::string(1, '\0') + "b\r\n\r\n", 400},
        Malformed{"version_two", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
        Malformed{"long_line", "GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n",
                  414},
        Malformed{"large_head",
                  "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n", 431}),
    [](const auto& each) { return each.param.name; });

}  // namespace caching_test
}  // namespace proxy::test
