// Groups of servers behind one entry of `origins`.
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "proxy/config/upstreams.hpp"
#include "proxy/upstream/upstream_group.hpp"
#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/log_capture.hpp"

namespace proxy::test {
namespace upstreams_test {

using namespace std::chrono_literals;
using nlohmann::json;

/// Nodes in front of a group of three origins, which answer with their names.
class Upstreams : public NodesTest {
protected:
    static ScriptedOrigin::Script named(const std::string& name) {
        return [name](Exchange& e) { e.answer("Cache-Control: no-store\r\n", name); };
    }
    static UpstreamServer server(const ScriptedOrigin& at) {
        UpstreamServer made;
        made.place = {"127.0.0.1", at.port()};
        made.mark = mark_of_server(made.place.text());
        return made;
    }
    /// One, two, three: so many of them.
    void use(std::size_t count, Balance balance = Balance::round_robin) {
        group.name = "*";
        group.balance = balance;
        group.servers.clear();
        for (std::size_t i = 0; i < count; ++i) group.servers.push_back(server(*all_[i]));
    }
    Config grouped(Config settings) const {
        settings.origins.front().group = std::make_shared<const UpstreamGroupConfig>(group);
        return settings;
    }
    void start_group() { start(grouped(config("a"))); }
    std::string ask(std::string_view target = "/") const { return get("a", target).body; }
    /// The servers of node a, by their order.
    std::vector<UpstreamStatus> servers() const { return status("a").upstreams; }
    std::string state_of(std::size_t index) const { return std::string(servers()[index].state); }
    /// The answers to so many requests, one letter each.
    std::string turns(unsigned count) const {
        std::string text;
        for (unsigned i = 0; i < count; ++i) text.push_back(ask()[0]);
        return text;
    }

    ScriptedOrigin one{named("1")}, two{named("2")}, three{named("3")};
    UpstreamGroupConfig group;

private:
    const std::array<ScriptedOrigin*, 3> all_{&one, &two, &three};
};

TEST_F(Upstreams, TakeTurns) {
    use(3);
    group.servers[0].weight = 2;
    start_group();
    EXPECT_EQ(turns(8), "12311231");
    const auto shown = servers();
    ASSERT_EQ(shown.size(), 3u);
    EXPECT_EQ(shown[0].group, "*");
    EXPECT_EQ(shown[0].server, group.servers[0].place.text());
    EXPECT_EQ(shown[0].requests, 4u);
    EXPECT_EQ(shown[1].requests, 2u);
    EXPECT_EQ(shown[0].failures, 0u);
    EXPECT_TRUE(eventually([this] { return servers()[0].in_flight == 0; }));
}

TEST_F(Upstreams, GiveTheRequestToTheNextAfterARefusedConnection) {
    use(3);
    one.die();
    start_group();
    for (unsigned i = 0; i < 12; ++i) EXPECT_NE(ask(), "") << i;
    EXPECT_EQ(state_of(0), "down");
    EXPECT_EQ(client().ask("POST", "/", {}, "x").status, 200u);
}

TEST_F(Upstreams, GiveAPostToTheNextOnlyIfNoConnectionWasMade) {
    use(2);
    one.die();
    start_group();
    EXPECT_EQ(client().ask("POST", "/", {}, "x").body, "2") << "the first got nothing";
}

TEST_F(Upstreams, NeverRepeatAPostThatAServerMayHaveRead) {
    use(2);
    const auto scripted = one.set([](Exchange& e) { e.keep = false; });
    const auto also = two.set([](Exchange& e) { e.keep = false; });
    start_group();
    EXPECT_EQ(client().ask("POST", "/", {}, "x").status, 502u);
    EXPECT_EQ(one.requests() + two.requests(), 1u);
}

TEST_F(Upstreams, NeverGiveARestOfABodyToTheNext) {
    use(2);
    start_group();
    EXPECT_EQ(turns(2), "12");  // both connections are kept
    // The first server reads the head, ends, and takes no connection any more.
    one.before_body([this](Exchange& e) {
        e.keep = false;
        one.die();
    });
    EXPECT_EQ(client().ask("PUT", "/", {}, "body").status, 502u);
    EXPECT_EQ(two.requests(), 1u);
}

TEST_F(Upstreams, GiveAGetToTheNextAfterAReset) {
    use(2);
    const auto scripted = one.set([](Exchange& e) {
        e.keep = false;
        e.socket.reset();
    });
    start_group();
    for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(ask(), "2") << i;
    EXPECT_EQ(state_of(0), "down");
}

TEST_F(Upstreams, GiveAGetToTheNextOnceAfterA503) {
    use(3);
    const auto busy = [](Exchange& e) { e.answer("", "busy", "503 Service Unavailable"); };
    std::vector<std::unique_ptr<ScriptedOrigin::Scripted>> scripted;
    scripted.emplace_back(new ScriptedOrigin::Scripted(one.set(busy)));
    start_group();
    EXPECT_EQ(turns(3), "223") << "the first turn was the busy one's";
    EXPECT_EQ(state_of(0), "up") << "it answers";
    EXPECT_GT(servers()[0].failures, 0u);
    EXPECT_EQ(client().ask("HEAD", "/").status, 200u);
    scripted.emplace_back(new ScriptedOrigin::Scripted(two.set(busy)));
    scripted.emplace_back(new ScriptedOrigin::Scripted(three.set(busy)));
    const auto before = one.requests() + two.requests() + three.requests();
    const auto answer = get("a", "/all");
    EXPECT_EQ(answer.status, 503u) << "the client gets the last answer";
    EXPECT_EQ(answer.body, "busy");
    EXPECT_EQ(one.requests() + two.requests() + three.requests(), before + 3) << "each once";
    EXPECT_EQ(client().ask("POST", "/", {}, "x").status, 503u);
    EXPECT_EQ(one.requests() + two.requests() + three.requests(), before + 4);
}

TEST_F(Upstreams, UseABackupOnlyWhileTheOthersAreDown) {
    use(2);
    group.servers[1].backup = true;
    start_group();
    EXPECT_EQ(turns(3), "111");
    one.die();
    EXPECT_EQ(turns(5), "22222");
    EXPECT_EQ(state_of(0), "down");
}

TEST_F(Upstreams, TryAllIfAllAreDown) {
    use(2);
    one.die();
    two.die();
    start_group();
    for (unsigned i = 0; i < 8; ++i) {
        const auto answer = get("a", "/" + std::to_string(i));
        EXPECT_EQ(answer.status, 502u);
        EXPECT_TRUE(contains(answer.cache_status(), "detail=connect_failed")) << answer.head;
    }
    EXPECT_EQ(state_of(0), "down");
    EXPECT_EQ(state_of(1), "down");
}

TEST_F(Upstreams, ComeBackAfterATrial) {
    use(2);
    group.slow_start = 1h;
    std::atomic<bool> broken{true};
    const auto scripted = one.set([&](Exchange& e) {
        if (!broken) return e.answer("Cache-Control: no-store\r\n", "1");
        e.keep = false;
        e.socket.reset();
    });
    start_group();
    EXPECT_TRUE(eventually([this] { return ask() == "2" && state_of(0) == "down"; }));
    const auto asked = one.requests();
    EXPECT_EQ(turns(5), "22222");
    broken = false;
    EXPECT_TRUE(eventually([this] { return ask() == "1"; }));
    EXPECT_EQ(state_of(0), "slow_start");
    EXPECT_LE(one.requests(), asked + 2) << "one request tried";
    const auto taken = turns(22);
    EXPECT_LE(std::ranges::count(taken, '1'), 3) << taken;
}

TEST_F(Upstreams, AreCheckedActively) {
    use(2);
    group.health.path = "/health?x";
    group.health.every = 20ms;
    group.health.timeout = 20s;
    group.health.expect = {{204, 204}};
    std::atomic<bool> good{false};
    const auto check = [](Exchange& e, bool is_good, std::string_view name) {
        if (e.target != "/health?x") return e.answer("Cache-Control: no-store\r\n", name);
        e.answer("", "", is_good ? "204 No Content" : "200 OK");
    };
    const auto first = one.set([&](Exchange& e) { check(e, good, "1"); });
    const auto second = two.set([&](Exchange& e) { check(e, true, "2"); });
    start_group();
    EXPECT_TRUE(eventually([this] { return state_of(0) == "down"; }));
    EXPECT_EQ(turns(4), "2222");
    EXPECT_EQ(status("a").work.total(), 4u) << "checks are no requests of clients";
    good = true;
    EXPECT_TRUE(eventually([this] { return state_of(0) == "up"; }));
    EXPECT_TRUE(eventually([this] { return ask() == "1"; }));
    EXPECT_TRUE(contains(one.heads().front(), "GET /health?x HTTP/1.1\r\nHost: 127.0.0.1:"));
}

TEST_F(Upstreams, KeepAUrlAtOneServerByRendezvous) {
    use(3, Balance::rendezvous);
    start_group();
    std::array<std::string, 30> before;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto target = "/" + std::to_string(i);
        before[i] = ask(target);
        EXPECT_EQ(ask(target), before[i]);
        const auto page = json::parse(
            admin("a", "/api/v1/explain?url=http%3A%2F%2Forigin.test%2F" + std::to_string(i)).body);
        EXPECT_EQ(page["servers"].size(), 3u);
        EXPECT_EQ(page["servers"][0],
                  group.servers[static_cast<std::size_t>(before[i][0] - '1')].place.text());
    }
    one.die();
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto now = ask("/" + std::to_string(i));
        if (before[i] != "1") {
            EXPECT_EQ(now, before[i]);
        }
        EXPECT_NE(now, "1");
    }
}

TEST_F(Upstreams, MatchWildcardHostsAndPathPrefixes) {
    auto settings = config("a");
    const auto entry = [](std::string host, std::string path, const ScriptedOrigin& at) {
        OriginConfig made{std::move(host), {"127.0.0.1", at.port()}};
        made.path = std::move(path);
        return made;
    };
    settings.origins = {entry("www.example.org", "/api", one), entry("*.example.org", "", two),
                        entry("*", "/static/", three)};
    start(settings);
    const auto from = [this](const std::string& host, std::string_view target) {
        auto asking = client();
        asking.host = host;
        const auto answer = asking.get(target);
        return answer.status == 200 ? answer.body : std::to_string(answer.status);
    };
    EXPECT_EQ(from("www.example.org", "/api"), "1");
    EXPECT_EQ(from("www.example.org", "/api?q"), "1");
    EXPECT_EQ(from("www.example.org", "/api/x"), "1");
    EXPECT_EQ(from("www.example.org", "/x/../api/x"), "1") << "compared in normal form";
    EXPECT_EQ(from("www.example.org", "/%61pi/x"), "1");
    EXPECT_EQ(from("www.example.org", "/apix"), "2");
    EXPECT_EQ(from("WWW.EXAMPLE.ORG.", "/x"), "2");
    EXPECT_EQ(from("a.b.example.org", "/x"), "2");
    EXPECT_EQ(from("example.org", "/x"), "404") << "is not below itself";
    EXPECT_EQ(from("badexample.org", "/x"), "404");
    EXPECT_EQ(from("else.test", "/static/x"), "3");
    EXPECT_EQ(from("else.test", "/static"), "404");
    EXPECT_TRUE(contains(one.heads()[4], "GET /%61pi/x HTTP/1.1"))
        << "the server gets it unchanged";
}

constexpr std::size_t kLength = 5 * kBlock + 100;

/// A body in blocks whose servers give the same strong tag to different bytes.
class UpstreamBlocks : public Upstreams {
protected:
    UpstreamBlocks() {
        for (auto* each : {&at_one, &at_two}) {
            each->etag = "\"same\"";
            each->content.assign(kLength, each == &at_one ? '1' : '2');
        }
        scripted_.emplace_back(
            new ScriptedOrigin::Scripted(one.set([this](Exchange& e) { at_one.answer(e); })));
        scripted_.emplace_back(
            new ScriptedOrigin::Scripted(two.set([this](Exchange& e) { at_two.answer(e); })));
        use(2);
    }
    Config blocks(Config settings) const {
        settings.cache.block = kBlock;
        settings.cache.slice_from = 4 * kBlock;
        return grouped(std::move(settings));
    }
    Answer part(const std::string& node, std::size_t first, std::size_t last) const {
        return get(node, "/file",
                   "Range: bytes=" + std::to_string(first) + "-" + std::to_string(last) + "\r\n");
    }
    static bool is_of_one_server(const std::string& body) {
        return body.find_first_not_of(body.front()) == std::string::npos;
    }

    File at_one, at_two;

private:
    std::vector<std::unique_ptr<ScriptedOrigin::Scripted>> scripted_;
};

TEST_F(UpstreamBlocks, AreNeverJoinedOfTwoServers) {
    start(blocks(config("a")));
    const auto first = part("a", 0, kBlock - 1);
    EXPECT_EQ(first.status, 206u);
    for (std::size_t at = 0; at < kLength; at += kBlock) {
        const auto next = part("a", at, std::min(at + kBlock, kLength) - 1);
        EXPECT_EQ(next.status, 206u);
        EXPECT_EQ(next.body.front(), first.body.front()) << "from the server of the first block";
    }
    const auto whole = get("a", "/file");
    EXPECT_TRUE(whole.complete);
    EXPECT_TRUE(is_of_one_server(whole.body));
}

TEST_F(UpstreamBlocks, BeginAnewAtAnotherServerIfTheirsIsDown) {
    group.health.path = "/health";
    group.health.every = 10ms;
    group.health.timeout = 20s;
    start(blocks(config("a")));
    const auto first = part("a", 0, kBlock - 1);
    ASSERT_EQ(first.status, 206u);
    const auto is_one = first.body.front() == '1';
    (is_one ? one : two).die();
    ASSERT_TRUE(eventually([&] { return state_of(is_one ? 0 : 1) == "down"; }));
    const auto whole = get("a", "/file");
    EXPECT_EQ(whole.status, 200u);
    EXPECT_TRUE(whole.complete);
    EXPECT_EQ(whole.body, (is_one ? at_two : at_one).content);
}

TEST_F(UpstreamBlocks, AreTakenFromAPeerWithTheirServer) {
    start(blocks(config("a", 2)));
    start(blocks(config("b", 2)));
    ASSERT_TRUE(eventually([this] { return in_sync("a") && in_sync("b"); }));
    const auto first = part("a", 0, 2 * kBlock - 1);
    ASSERT_EQ(first.status, 206u);
    ASSERT_TRUE(eventually([this] { return announced("a", 3); }));
    const auto requests = one.requests() + two.requests();
    EXPECT_EQ(part("b", 0, 2 * kBlock - 1).body, first.body);
    EXPECT_EQ(one.requests() + two.requests(), requests) << "the peer has head and blocks";
    const auto rest = part("b", 0, kLength - 1);
    EXPECT_EQ(rest.status, 206u);
    EXPECT_TRUE(rest.complete);
    EXPECT_EQ(rest.body.front(), first.body.front());
    EXPECT_TRUE(is_of_one_server(rest.body));
}

TEST_F(UpstreamBlocks, AreCutRatherThanContinuedByAnotherServer) {
    start(blocks(config("a")));
    const auto first = part("a", 0, kBlock - 1);
    ASSERT_EQ(first.status, 206u);
    const auto is_one = first.body.front() == '1';
    auto& gone = is_one ? one : two;
    auto& other = is_one ? two : one;
    const auto scripted = gone.set([](Exchange& e) {
        e.keep = false;
        e.socket.reset();
    });
    const auto asked = other.requests();
    const auto whole = get("a", "/file");
    EXPECT_EQ(whole.status, 200u);
    EXPECT_FALSE(whole.complete);
    EXPECT_EQ(whole.body, first.body);
    const auto heads = other.heads();
    for (auto i = asked; i < heads.size(); ++i) EXPECT_EQ(field_of(heads[i], "Range"), "");
    const auto again = get("a", "/file");
    EXPECT_TRUE(again.complete);
    EXPECT_EQ(again.body, (is_one ? at_two : at_one).content) << "anew, from the other one";
}

/// A peer with a body of a server, which stalls in the middle.
class UpstreamPeers : public Upstreams {
protected:
    UpstreamPeers() { encrypt = false; }
    /// The answer for b about a body that node a announces, when `Hearsay-Server` is `mark`.
    Answer through_stalled_peer(std::uint32_t mark) {
        std::array<char, 16> line{};
        std::snprintf(line.data(), line.size(), "%x\r\n", mark);
        const auto server =
            mark == 0 ? std::string() : "Hearsay-Server: " + std::string(line.data());
        Gate never;
        ScriptedOrigin stalled([&](Exchange& e) {
            e.send("HTTP/1.1 200 OK\r\n" + fresh("ETag: \"v\"\r\nContent-Length: 10\r\n") + server +
                   "\r\n11111");
            never.wait();
            e.keep = false;
        });
        const auto serve = [](std::string name) {
            return [name](Exchange& e) {
                if (e.field("Range").empty())
                    return e.answer(fresh("ETag: \"v\"\r\n"), std::string(10, name[0]));
                e.answer(fresh("ETag: \"v\"\r\nContent-Range: bytes 5-9/10\r\n"),
                         std::string(5, name[0]), "206 Partial Content");
            };
        };
        const auto first = one.set(serve("1"));
        const auto second = two.set(serve("2"));
        use(2);
        auto asking = grouped(config("b", 2));
        asking.cluster->peers.front().http = {"127.0.0.1", stalled.port()};
        constants.peers.stall = 50ms;
        start(grouped(config("a", 2)));
        start(asking);
        EXPECT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
        EXPECT_EQ(get("a", "/0").status, 200u);
        EXPECT_TRUE(eventually([&] { return announced("a", 1); }));
        const auto answer = get("b", "/0");
        EXPECT_FALSE(contains(answer.head, "Hearsay-Server"));
        never.open();
        return answer;
    }
};

TEST_F(UpstreamPeers, AreContinuedByTheServerThatTheyName) {
    use(2);
    const auto answer = through_stalled_peer(group.servers[0].mark);
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, "1111111111");
}

TEST_F(UpstreamPeers, AreCutIfTheirServerIsUnknown) {
    const auto answer = through_stalled_peer(0);
    EXPECT_FALSE(answer.complete);
    EXPECT_EQ(answer.body, "11111");
}

TEST_F(UpstreamPeers, AreCutIfTheirServerIsNotInTheGroup) {
    const auto answer = through_stalled_peer(77);
    EXPECT_FALSE(answer.complete);
    EXPECT_EQ(answer.body, "11111");
}

class UpstreamLogs : protected LogCapture, public Upstreams {};

TEST_F(UpstreamLogs, SayWhenAServerIsDownAndUpAgain) {
    spdlog::set_level(spdlog::level::info);
    use(2);
    std::atomic<bool> broken{true};
    const auto scripted = one.set([&](Exchange& e) {
        if (!broken) return e.answer("Cache-Control: no-store\r\n", "1");
        e.keep = false;
        e.socket.reset();
    });
    start_group();
    const auto place = group.servers[0].place.text();
    EXPECT_TRUE(eventually(
        [&] { return !ask().empty() && !logged(place + " of * is down: requests fail").empty(); }));
    broken = false;
    EXPECT_TRUE(
        eventually([&] { return !ask().empty() && !logged(place + " of * is up again").empty(); }));
}

}  // namespace upstreams_test
}  // namespace proxy::test
