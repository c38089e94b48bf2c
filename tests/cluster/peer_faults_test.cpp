#include <atomic>
#include <filesystem>
#include <fstream>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "tests/cluster/fixture.hpp"
#include "tests/cluster/wire.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {
namespace peer_faults_test {

using namespace std::chrono_literals;

class PeerFaults : public NodesTest {
protected:
    PeerFaults() { encrypt = false; }
    /// Nodes a and b, with `stand_in` where b looks for a's objects.
    void start_with(const ScriptedOrigin& stand_in,
                    std::chrono::milliseconds budget = std::chrono::milliseconds(2000)) {
        auto settings = config("b", 2);
        settings.cluster->peers.front().http = {"127.0.0.1", stand_in.port()};
        set_peer_budget(budget);
        constants.peers.stall = stall;
        if (!log.empty()) settings.log.access = log.string();
        settings.cache.slice_from = slice_from;
        settings.cache.block = block;
        auto other = config("a", 2);
        other.cache.slice_from = slice_from;
        other.cache.block = block;
        start(other);
        start(settings);
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
    std::chrono::nanoseconds stall = PeerTimes().stall;
    std::filesystem::path log;  // of b
    std::uint64_t slice_from = CacheConfig().slice_from, block = CacheConfig().block;
    /// Stores so many objects at a, all known to b.
    void store_at_a(int objects) {
        for (int i = 0; i < objects; ++i) get("a", "/" + std::to_string(i));
        const auto all = static_cast<std::uint64_t>(objects);
        ASSERT_TRUE(eventually([&] { return status("a").summary.objects == all; }));
        ASSERT_TRUE(eventually([&] { return announced("a", all); }));
    }
};

TEST_F(PeerFaults, APausedPeerCostsItsBudgetAFewTimesAndIsLeftAlone) {
    Gate never;
    ScriptedOrigin paused([&](Exchange& e) {  // takes every connection and answers none
        never.wait();
        e.keep = false;
    });
    start_with(paused, 100ms);
    store_at_a(20);
    for (int i = 0; i < 20; ++i) {
        const auto answer = get("b", "/" + std::to_string(i));
        EXPECT_EQ(answer.body, "body of /" + std::to_string(i));
        EXPECT_EQ(answer.cache_status().find("PEER"), std::string::npos);
    }
    const auto peer = seen("b", "a");
    EXPECT_GE(peer.failures, 3u);
    EXPECT_EQ(peer.failures, peer.asked);
    EXPECT_LT(peer.asked, 15u);  // the breaker is open
    EXPECT_EQ(count("b", Outcome::origin_fetch), 20u);
    EXPECT_EQ(count("b", Outcome::error), 0u);
    never.open();
}

TEST_F(PeerFaults, APausedPeerIsUnknownToWhoeverWantsAnExplanation) {
    Gate never;
    ScriptedOrigin paused([&](Exchange& e) {
        never.wait();
        e.keep = false;
    });
    start_with(paused);
    store_at_a(1);
    const auto answer = admin("b", "/api/v1/explain?url=http%3A%2F%2Forigin.test%2F0");
    never.open();
    ASSERT_EQ(answer.status, 200u) << answer.body;
    const auto page = nlohmann::json::parse(answer.body, nullptr, false);
    ASSERT_EQ(page["peers"].size(), 1u) << answer.body;
    EXPECT_EQ(page["peers"][0]["claims"], true);
    EXPECT_EQ(page["peers"][0]["has"], "unknown") << "a was asked, and did not answer";
}

TEST_F(PeerFaults, APeerWhoseSummaryClaimsTooMuchIsIgnoredForAWhile) {
    ScriptedOrigin liar([](Exchange& e) {
        e.answer("Cache-Status: a; fwd=uri-miss; detail=absent\r\n", "", "504 Gateway Timeout");
    });
    start_with(liar);
    store_at_a(60);
    for (int i = 0; i < 60; ++i)
        EXPECT_EQ(get("b", "/" + std::to_string(i)).body, "body of /" + std::to_string(i));
    const auto peer = seen("b", "a");  // as the status page shows it
    EXPECT_GE(peer.false_hits, 30u);
    EXPECT_EQ(peer.false_hits, peer.asked);
    EXPECT_LT(peer.asked, 50u);
    EXPECT_EQ(liar.requests(), peer.asked);
    EXPECT_EQ(count("b", Outcome::origin_fetch), 60u);
}

// Its end is that of the connection, and nobody knows whether that came too early.
TEST_F(PeerFaults, ABodyWithoutFramingIsNotStored) {  // RFC 9112 §6.3, §8
    ScriptedOrigin peer([](Exchange& e) {
        e.keep = false;
        e.send("HTTP/1.1 200 OK\r\n" + fresh() + "\r\nbody o");
    });
    start_with(peer);
    store_at_a(3);
    for (int i = 0; i < 3; ++i) {
        const auto target = "/" + std::to_string(i);
        for (int round = 0; round < 2; ++round) {
            const auto answer = get("b", target);
            EXPECT_TRUE(answer.complete);
            EXPECT_EQ(answer.body, "body of " + target) << round;
        }
    }
    EXPECT_GT(peer.requests(), 0u);
    EXPECT_EQ(seen("b", "a").hits, 0u);
    EXPECT_EQ(count("b", Outcome::local_hit), 3u);
}

class AskedPeers : public PeerFaults {
protected:
    AskedPeers() { log = folder_.path() / "access.log"; }
    ~AskedPeers() override { kill("b"); }
    /// The lines of b's clients, when b has ended.
    std::vector<nlohmann::json> logged() {
        kill("b");
        std::vector<nlohmann::json> lines;
        std::ifstream file(log);
        for (std::string line; std::getline(file, line);) {
            auto read = nlohmann::json::parse(line);
            if (read["role"] == "client") lines.push_back(std::move(read));
        }
        return lines;
    }

private:
    const TemporaryDirectory folder_;
};

TEST_F(AskedPeers, AreInTheAccessLogWhateverCameOfIt) {
    std::atomic<int> requests = 0;
    ScriptedOrigin peer([&](Exchange& e) {
        switch (requests++) {
            case 0:
                return e.answer("Cache-Status: a; fwd=uri-miss; detail=absent\r\n", "",
                                "504 Gateway Timeout");
            case 1:
                return e.answer("Cache-Status: a; fwd=uri-miss; detail=busy\r\n", "",
                                "504 Gateway Timeout");
            case 2:
                return e.answer(fresh("Vary: *\r\n"), "not to be used");
            case 3:
                e.keep = false;
                return e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 10\r\n") + "\r\nhalf");
            case 4:
                return e.answer(fresh(""), "good");
            default:
                e.keep = false;
                return e.send("no HTTP");
        }
    });
    start_with(peer);
    store_at_a(6);
    for (int i = 0; i < 6; ++i) get("b", "/" + std::to_string(i));
    get("b", "/0");  // a hit
    get("b", "/of-no-peer");
    const auto lines = logged();
    ASSERT_GE(lines.size(), 7u);
    const std::vector<std::string> verdicts{"false_hit", "refused", "unusable",
                                            "failure",   "hit",     "failure"};
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        EXPECT_EQ(lines[i].value("peer", ""), "a") << lines[i];
        EXPECT_EQ(lines[i].value("peer_verdict", ""), verdicts[i]) << lines[i];
        EXPECT_FALSE(lines[i].contains("peers_asked")) << lines[i];
    }
    for (std::size_t i = verdicts.size(); i < lines.size(); ++i)
        EXPECT_FALSE(lines[i].contains("peer")) << lines[i];
}

TEST_F(PeerFaults, ARequestThatAPeerShouldNotServeIsRefusedAndCounted) {
    std::mutex mutex;
    std::string bytes;
    ScriptedOrigin wrong([&](Exchange& e) {
        const std::lock_guard lock(mutex);
        e.send(bytes);
        e.keep = false;
    });
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    for (const auto& [name, answer] : std::vector<std::pair<std::string, std::string>>{
             {"nothing", ""},
             {"no HTTP", "<html>\r\n\r\n"},
             {"another protocol", "\x16\x03\x01"},
             {"half a head", "HTTP/1.1 200 OK\r\nCache-Con"},
             {"two lengths", ok + fresh("Content-Length: 1\r\nContent-Length: 2\r\n") + "\r\nab"},
             {"length and chunks",
              ok + fresh("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "\r\n0\r\n\r\n"},
             {"bare LF", ok + fresh("Content-Length: 1\r\nX: a\nY: b\r\n") + "\r\nx"},
             {"stale by its age", ok + fresh("Age: 2000\r\nContent-Length: 5\r\n") + "\r\nstale"},
             {"stale from the start",
              ok + "Cache-Control: max-age=0\r\nContent-Length: 5\r\n\r\nstale"},
             {"to be validated", ok + "Cache-Control: no-cache\r\nContent-Length: 5\r\n\r\nstale"},
             {"for one client alone",
              ok + fresh("Cache-Control: private\r\nContent-Length: 5\r\n") + "\r\nother"},
             {"not to be stored",
              ok + fresh("Cache-Control: no-store\r\nContent-Length: 5\r\n") + "\r\nother"},
             {"for one request alone",
              ok + fresh("Vary: *\r\nContent-Length: 5\r\n") + "\r\nother"},
             {"412",
              "HTTP/1.1 412 Precondition Failed\r\n" + fresh("Content-Length: 1\r\n") + "\r\nx"},
             {"304", "HTTP/1.1 304 Not Modified\r\n\r\n"},
             {"206", "HTTP/1.1 206 Partial Content\r\n" +
                         fresh("Content-Range: bytes 0-0/5\r\nContent-Length: 1\r\n") + "\r\nx"},
             {"101", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"},
             {"status 700", "HTTP/1.1 700 High\r\n" + fresh("Content-Length: 1\r\n") + "\r\nx"},
         }) {
        SCOPED_TRACE(name);
        {
            const std::lock_guard lock(mutex);
            bytes = answer;
        }
        start_with(wrong);
        store_at_a(1);
        const auto got = get("b", "/0");
        EXPECT_EQ(got.status, 200u);
        EXPECT_EQ(got.body, "body of /0");
        const auto is_old = std::string_view(name) == "stale by its age";
        EXPECT_EQ(seen("b", "a").failures, is_old ? 0u : 1u);
        EXPECT_EQ(seen("b", "a").too_old, is_old ? 1u : 0u);
        EXPECT_EQ(count("b", Outcome::origin_fetch), 1u);
        EXPECT_EQ(get("b", "/0").body, "body of /0");
    }
}

TEST_F(PeerFaults, ABodyThatAPeerCutsIsNeitherWholeNorStored) {  // RFC 9112 §8
    ScriptedOrigin cut([](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 10\r\n") + "\r\nhalf");
        e.keep = false;
    });
    start_with(cut);
    store_at_a(1);
    const auto answer = get("b", "/0");
    EXPECT_TRUE(answer.status == 502 || !answer.complete) << answer.head;
    EXPECT_EQ(seen("b", "a").failures, 1u);
    EXPECT_EQ(status("b").cache.objects, 0u);
}

TEST_F(AskedPeers, ThatHaveNotAnsweredWhenTheClientLeavesAreNoHits) {
    Gate never;
    ScriptedOrigin paused([&](Exchange& e) {
        never.wait();
        e.keep = false;
    });
    start_with(paused);
    store_at_a(1);
    const auto hung = origin.set([&](Exchange& e) {
        never.wait();
        e.keep = false;
    });
    auto leaving = client("b");
    leaving.begin("GET", "/0");
    ASSERT_TRUE(never.wait_for(1));
    leaving.socket.reset();
    ASSERT_TRUE(eventually([&] { return count("b", Outcome::error) == 1; }));
    never.open();
    const auto lines = logged();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].value("peer", ""), "a") << lines[0];
    EXPECT_EQ(lines[0].value("peer_verdict", ""), "pending") << lines[0];
}

TEST_F(PeerFaults, TheRestOfABodyInWhichAPeerStallsComesFromTheOrigin) {
    Gate never;
    ScriptedOrigin stalled([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh("ETag: \"v\"\r\nContent-Length: 10\r\n") +
               "\r\nbody ");
        never.wait();
        e.keep = false;
    });
    const auto scripted = origin.set([](Exchange& e) {
        if (e.field("Range") == "bytes=5-")
            e.answer(fresh("ETag: \"v\"\r\nContent-Range: bytes 5-9/10\r\n"), "of it",
                     "206 Partial Content");
        else
            e.answer(fresh("ETag: \"v\"\r\n"), "body of it");
    });
    stall = 50ms;
    start_with(stalled);
    store_at_a(1);
    const auto answer = get("b", "/0");  // and not after timeouts.body_idle, which is longer
    EXPECT_EQ(answer.body, "body of it");
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(seen("b", "a").failures, 1u);
    never.open();
}

TEST_F(PeerFaults, TheRestOfABodyThatAPeerDripsComesFromTheOrigin) {
    const std::string body(400, 'x');
    std::atomic<bool> over = false;
    ScriptedOrigin dripping([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh("ETag: \"v\"\r\nContent-Length: 400\r\n") + "\r\n");
        for (std::size_t i = 0; i < body.size() && !over; ++i) {  // never silent for so long
            e.send("x");
            std::this_thread::sleep_for(5ms);
        }
        e.keep = false;
    });
    std::atomic<unsigned> rests = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto range = e.field("Range");
        if (range.empty()) return e.answer(fresh("ETag: \"v\"\r\n"), body);
        ++rests;
        const auto first = std::strtoull(range.c_str() + 6, nullptr, 10);
        e.answer(
            fresh("ETag: \"v\"\r\nContent-Range: bytes " + std::to_string(first) + "-399/400\r\n"),
            body.substr(first), "206 Partial Content");
    });
    stall = 200ms;
    start_with(dripping);
    store_at_a(1);
    const auto answer = get("b", "/0");
    over = true;
    EXPECT_EQ(answer.body, body);
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(rests, 1u);
    EXPECT_EQ(seen("b", "a").failures, 1u);
}

/// A peer that gives so many bytes every 10 ms, of a body that the origin gives at once.
class SlowPeer : public PeerFaults {
protected:
    static constexpr std::size_t kBytes = 200'000;

    void start_beside(std::size_t bytes_in_10ms) {
        peer_.emplace([this, bytes_in_10ms](Exchange& e) {
            e.send("HTTP/1.1 200 OK\r\n" +
                   fresh("ETag: \"v\"\r\nContent-Length: " + std::to_string(kBytes) + "\r\n") +
                   "\r\n");
            std::size_t sent = 0;
            for (; sent < kBytes && !over && !stalls; sent += bytes_in_10ms) {
                e.send(std::string_view(body).substr(sent, bytes_in_10ms));
                std::this_thread::sleep_for(10ms);
            }
            e.keep = sent >= kBytes;
            if (stalls) never.wait();
        });
        scripted_.emplace(origin, [this](Exchange& e) {
            const auto range = e.field("Range");
            if (range.empty()) return e.answer(fresh("ETag: \"v\"\r\n"), body);
            ++rests;
            if (refuses) return e.answer("", "", "503 Service Unavailable");
            if (has_other_once.exchange(false)) {
                e.send("HTTP/1.1 200 OK\r\n" +
                       fresh("ETag: \"w\"\r\nContent-Length: 10000000\r\n") + "\r\n" + body);
                is_held = !e.socket.readable(10s);
                stalls = true;
                e.keep = false;
                return;
            }
            const auto first = std::strtoull(range.c_str() + 6, nullptr, 10);
            e.answer(fresh("ETag: \"v\"\r\nContent-Range: bytes " + std::to_string(first) +
                           "-199999/200000\r\n"),
                     body.substr(first), "206 Partial Content");
        });
        stall = 200ms;
        start_with(*peer_);
        store_at_a(1);
    }
    ~SlowPeer() override {
        over = true;
        never.open();
    }

    /// Sets a script that ends with this.
    struct Scripted {
        Scripted(ScriptedOrigin& origin, ScriptedOrigin::Script script)
            : scripted(origin.set(std::move(script))) {}
        const ScriptedOrigin::Scripted scripted;
    };

    std::string body = [] {
        std::string made(kBytes, ' ');
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<char>('a' + i % 23);
        return made;
    }();
    std::atomic<bool> over = false, stalls = false, refuses = false;
    std::atomic<bool> has_other_once = false;  // the origin has another version, and is slow
    std::atomic<bool> is_held = false;         // that answer, unread
    std::atomic<unsigned> rests = 0;
    Gate never;
    std::optional<ScriptedOrigin> peer_;
    std::optional<Scripted> scripted_;
};

TEST_F(SlowPeer, IsLeftForAnOriginThatIsMuchFaster) {
    start_beside(50);    // 5,000 B/s, which is no stall: 40 s for the body
    get("b", "/other");  // so that b knows how fast the origin is
    const auto begun = std::chrono::steady_clock::now();
    const auto answer = get("b", "/0");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    EXPECT_EQ(answer.body, body);
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(rests, 1u);
    EXPECT_EQ(seen("b", "a").failures, 1u);
    EXPECT_EQ(status("b").work.origin_hedges, 1u);
    EXPECT_EQ(status("b").work.origin_hedges_outrun, 0u);
    EXPECT_LT(status("b").work.bytes_from_origins + status("b").work.bytes_from_peers,
              2 * kBytes + 10'000)
        << "hardly anything came twice";
    EXPECT_EQ(get("b", "/0").body, body);
    EXPECT_NE(get("b", "/0").cache_status().find("hit"), std::string::npos);
}

TEST_F(SlowPeer, GoesOnWhileTheOriginHasNothingToGive) {
    refuses = true;
    start_beside(2000);  // a second in all
    get("b", "/other");  // so that b knows how fast the origin is
    const auto answer = get("b", "/0");
    EXPECT_EQ(answer.body, body);
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(rests, 1u) << "asked once for one body";
    EXPECT_EQ(status("b").work.origin_hedges, 1u);
    EXPECT_EQ(status("b").work.origin_hedges_outrun, 1u);
    EXPECT_EQ(seen("b", "a").hits, 1u);
    EXPECT_EQ(seen("b", "a").failures, 0u);
    EXPECT_EQ(count("b", Outcome::error), 0u);
}

TEST_F(SlowPeer, APeerIsLeftForTheNextAnswerOfAnOriginThatHadNone) {
    has_other_once = true;
    start_beside(50);
    get("b", "/other");  // so that b knows how fast the origin is
    const auto answer = get("b", "/0");
    EXPECT_FALSE(is_held) << "while the peer went on";
    EXPECT_EQ(answer.body, body);
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(rests, 2u);
    EXPECT_EQ(status("b").work.origin_hedges, 1u);
    EXPECT_EQ(status("b").work.origin_hedges_outrun, 1u) << "the second was beside nobody";
}

/// A body in three blocks, and the odd answer of a peer that is asked for one.
class BlockFaults : public PeerFaults {
protected:
    BlockFaults() {
        for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 26);
        slice_from = 2048;
        block = 1024;
    }
    std::string part(const std::string& range, std::string& fields) const {
        fields = fresh("ETag: \"v\"\r\nAccept-Ranges: bytes\r\n");
        if (range.empty()) return body;
        const auto first = std::strtoull(range.c_str() + 6, nullptr, 10);
        const auto last = std::strtoull(range.c_str() + range.find('-') + 1, nullptr, 10);
        fields +=
            "Content-Range: bytes " + range.substr(6) + "/" + std::to_string(body.size()) + "\r\n";
        return body.substr(first, last + 1 - first);
    }
    void expect_whole_body_beside(const ScriptedOrigin& stand_in) {
        const auto scripted = origin.set([&](Exchange& e) {
            std::string fields;
            const auto range = e.field("Range");
            const auto bytes = part(range, fields);
            e.answer(fields, bytes, range.empty() ? "200 OK" : "206 Partial Content");
        });
        start_with(stand_in);
        ASSERT_EQ(get("a", "/0").body, body);
        ASSERT_TRUE(eventually([&] { return announced("a", 3); }));
        const auto answer = get("b", "/0");
        EXPECT_EQ(answer.body, body);
        EXPECT_TRUE(answer.complete);
        EXPECT_GE(seen("b", "a").failures, 1u);
    }
    std::string body = std::string(3 * 1024, ' ');
};

TEST_F(BlockFaults, TheRestOfABlockInWhichAPeerStallsComesFromTheOrigin) {
    Gate never;
    ScriptedOrigin stalled([&](Exchange& e) {
        std::string fields;
        const auto bytes = part(e.field("Range"), fields);
        e.send("HTTP/1.1 206 Partial Content\r\n" + fields + "Content-Length: " +
               std::to_string(bytes.size()) + "\r\n\r\n" + bytes.substr(0, 100));
        never.wait();
        e.keep = false;
    });
    stall = 50ms;
    expect_whole_body_beside(stalled);
    never.open();
}

TEST_F(BlockFaults, ABlockThatEndsEarlyByItsChunksIsNotTaken) {
    ScriptedOrigin chunked([&](Exchange& e) {
        std::string fields;
        const auto bytes = part(e.field("Range"), fields);
        e.send("HTTP/1.1 206 Partial Content\r\n" + fields +
               "Transfer-Encoding: chunked\r\n\r\n1\r\n" + bytes.substr(0, 1) + "\r\n0\r\n\r\n");
    });
    expect_whole_body_beside(chunked);
}

TEST_F(BlockFaults, ABlockThatIsLongerThanItsRangeIsNotTaken) {
    ScriptedOrigin longer([&](Exchange& e) {
        std::string fields;
        const auto bytes = part(e.field("Range"), fields) + "extra";
        e.answer(fields, bytes, "206 Partial Content");
    });
    expect_whole_body_beside(longer);
}

TEST_F(PeerFaults, BothSidesOfAPartitionServeAloneAndAgreeAfterIt) {
    // a and b reach each other, links and objects, over these alone.
    const auto far_a = address("c"), far_b = address("d");
    std::list<Wire> wires;
    wires.emplace_back(far_a, kLinkPort, address("a"), kLinkPort);
    wires.emplace_back(far_b, kLinkPort, address("b"), kLinkPort);
    wires.emplace_back(far_a, kProxyPort, address("a"), kProxyPort);
    wires.emplace_back(far_b, kProxyPort, address("b"), kProxyPort);
    for (const std::string name : {"a", "b"}) {
        auto settings = config(name, 2);
        const auto& far = name == "a" ? far_b : far_a;
        settings.cluster->peers.front().http = {far, kProxyPort};
        settings.cluster->peers.front().link = {far, kLinkPort};
        set_peer_budget(500ms);
        settings.cluster->gone_after = 1s;
        start(settings);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    int first = 0;
    EXPECT_TRUE(eventually([&] {  // by chance not at once, when the machine is busy
        const auto target = "/first" + std::to_string(first++);
        store("a", target);
        return get("b", target).cache_status().find("PEER_a") != std::string::npos;
    }));

    for (auto& wire : wires) wire.interrupt();
    for (int i = 0; i < 5; ++i) {  // before it is noticed: the origin, after the peer's budget
        EXPECT_EQ(get("a", "/a" + std::to_string(i)).status, 200u);
        EXPECT_EQ(get("b", "/b" + std::to_string(i)).status, 200u);
    }
    ASSERT_TRUE(eventually([&] { return !in_sync("a") && !in_sync("b"); }));
    EXPECT_EQ(get("b", "/a0").status, 200u);  // alone

    for (auto& wire : wires) wire.heal();
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    ASSERT_TRUE(eventually([&] {
        return announced("a", status("a").summary.objects) &&
               announced("b", status("b").summary.objects);
    }));
    EXPECT_EQ(get("b", "/a1").body, "body of /a1");
    EXPECT_EQ(get("a", "/b1").body, "body of /b1");
    int number = 0;
    EXPECT_TRUE(eventually([&] {  // once the breaker has closed again
        const auto target = "/again" + std::to_string(number++);
        store("a", target);
        return get("b", target).cache_status().find("PEER_a") != std::string::npos;
    }));
    EXPECT_EQ(count("a", Outcome::error) + count("b", Outcome::error), 0u);
}

}  // namespace peer_faults_test
}  // namespace proxy::test
