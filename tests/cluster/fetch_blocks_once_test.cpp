// One fetch for the cluster of a body in blocks.
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "proxy/upstream/peer_record.hpp"
#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace fetch_blocks_once_test {

using namespace std::chrono_literals;

/// A large file that no node has, and that several nodes want at the same time.
class FetchBlocksOnce : public NodesTest {
protected:
    static constexpr std::string_view kAll = "abcd";
    static constexpr std::size_t kLength = 20 * kBlock - 100;
    static constexpr auto kOriginTakes = 20ms;  // as over a network

    FetchBlocksOnce() {
        constants.meets = true;
        file.content = bytes(kLength);
    }

    Config settings(const std::string& node, unsigned nodes = kAll.size()) const {
        auto result = config(node, nodes);
        result.cache.block = kBlock;
        result.cache.slice_from = 4 * kBlock;
        return result;
    }
    void start_all() {
        for (const auto node : kAll) start(settings(std::string(1, node)));
        for (const auto node : kAll)
            ASSERT_TRUE(eventually([&] { return in_sync(std::string(1, node)); })) << node;
    }
    /// One client at each of `nodes`.
    std::vector<Client> ask(std::string_view nodes, std::string_view fields = {}) const {
        std::vector<Client> clients;
        for (const auto node : nodes) {
            clients.push_back(client(std::string(1, node)));
            clients.back().begin("GET", "/file", fields);
        }
        return clients;
    }
    /// The first request gets so many bytes before `rest` is opened; the others get all.
    ScriptedOrigin::Script stops_after(std::size_t sent, Gate& rest) {
        return [this, sent, &rest](Exchange& e) {
            if (asked_++ > 0) {
                std::this_thread::sleep_for(kOriginTakes);
                return file.answer(e);
            }
            const auto first = file;
            e.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kLength) +
                   "\r\nETag: " + first.etag + "\r\nAccept-Ranges: bytes\r\n" + first.more +
                   "\r\n" + first.content.substr(0, sent));
            if (rest.wait()) e.send(first.content.substr(sent));
        };
    }
    std::uint64_t from_origins(std::string_view nodes = kAll) const {
        std::uint64_t sum = 0;
        for (const auto node : nodes) sum += status(std::string(1, node)).work.bytes_from_origins;
        return sum;
    }

    File file;

private:
    std::atomic<int> asked_ = 0;
};

TEST_F(FetchBlocksOnce, IsAskedOfTheOriginByOneNode) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        file.answer(e);
    });
    start_all();
    auto clients = ask(kAll);
    ASSERT_TRUE(gate.wait_for(1));
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, file.content);
    EXPECT_EQ(ranges_asked(origin), Asked{"-"});
    EXPECT_EQ(from_origins(), kLength);
    EXPECT_TRUE(eventually([&] {
        std::uint64_t given = 0, taken = 0;
        for (const auto node : kAll) {
            given += status(std::string(1, node)).work.bytes_to_peers;
            taken += status(std::string(1, node)).work.bytes_from_peers;
        }
        return given == 3 * kLength && taken == given;
    })) << "the books balance";
    for (const auto node : kAll)
        EXPECT_TRUE(get(std::string(1, node), "/file").cache_status().find("; hit") !=
                    std::string::npos);
}

TEST_F(FetchBlocksOnce, IsFetchedByOneThoughTheQuestionDidNotPayBeforeItsHead) {
    Gate head, rest;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target != "/file") return e.answer(fresh(), "small");
        head.wait();
        e.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kLength) +
               "\r\nETag: " + file.etag + "\r\nAccept-Ranges: bytes\r\n" + file.more + "\r\n" +
               file.content.substr(0, kBlock));
        if (rest.wait()) e.send(std::string_view(file.content).substr(kBlock));
    });
    start_all();
    for (const std::string node : {"a", "b", "c", "d"})  // all times become known
        for (int i = 0; i < 40; ++i) get(node, "/" + node + std::to_string(i));
    const auto before = origin.requests();
    auto clients = ask(kAll);
    ASSERT_TRUE(head.wait_for(3)) << "one at most is a sample, and asks first";
    head.open();
    for (auto& each : clients) EXPECT_TRUE(each.read_at_least(kBlock));
    rest.open();
    for (auto& each : clients) EXPECT_TRUE(each.read().body == file.content);
    EXPECT_LE(from_origins(), kLength + 3 * kBlock + before * 5);
}

TEST_F(FetchBlocksOnce, ComesToAllAtThePaceOfTheOrigin) {
    Gate rest;
    const auto scripted = origin.set(stops_after(6 * kBlock + 10, rest));
    start_all();
    auto first = ask("a");
    EXPECT_TRUE(first.front().read_at_least(10));
    auto others = ask("bcd");
    for (auto& each : others) EXPECT_TRUE(each.read_at_least(6 * kBlock + 10));
    rest.open();
    EXPECT_EQ(first.front().read().body, file.content);
    for (auto& each : others) EXPECT_EQ(each.read().body, file.content);
    EXPECT_EQ(ranges_asked(origin), Asked{"-"});
}

TEST_F(FetchBlocksOnce, LeavesTheOriginOnceWhenTheNodeThatFetchesIsKilled) {
    Gate rest;
    const auto sent = 6 * kBlock + 10;
    const auto scripted = origin.set(stops_after(sent, rest));
    start_all();
    auto first = ask("a");
    EXPECT_TRUE(first.front().read_at_least(10));
    auto others = ask("bcd");
    for (auto& each : others) ASSERT_TRUE(each.read_at_least(sent));
    kill("a");
    for (auto& each : others) EXPECT_EQ(each.read().body, file.content);
    EXPECT_EQ(from_origins("bcd"), kLength - sent);
    EXPECT_EQ(ranges_asked(origin),
              (Asked{"-", "bytes=" + std::to_string(sent) + "-" + std::to_string(kLength - 1)}));
    rest.open();
}

TEST_F(FetchBlocksOnce, EndsForAllByAPurge) {
    Gate rest;
    const auto scripted = origin.set(stops_after(6 * kBlock + 10, rest));
    start_all();
    auto first = ask("a");
    EXPECT_TRUE(first.front().read_at_least(10));
    auto others = ask("bc");
    for (auto& each : others) ASSERT_TRUE(each.read_at_least(6 * kBlock + 10));
    auto purge = client("b");
    purge.begin("PURGE", "/file");
    EXPECT_EQ(purge.read().status, 200);
    const auto old = file.content;
    file.content = bytes(kLength, 5);
    file.etag = "\"v2\"";
    ASSERT_TRUE(eventually([&] { return get("d", "/file").body == file.content; }));
    rest.open();
    EXPECT_TRUE(first.front().read().body == old) << "it was asked for before the purge";
    for (auto& each : others) {
        const auto cut = each.read();
        EXPECT_FALSE(cut.complete);
        EXPECT_TRUE(old.starts_with(cut.body)) << "two versions in one body";
    }
    for (const auto* node : {"a", "b", "c", "d"})
        EXPECT_TRUE(get(node, "/file").body == file.content) << node;
}

TEST_F(FetchBlocksOnce, OutlivesAPurgeAtItsNodeForAllWhoReadAlong) {
    Gate rest;
    const auto scripted = origin.set(stops_after(6 * kBlock + 10, rest));
    start_all();
    auto clients = ask("aaa");
    for (auto& each : clients) ASSERT_TRUE(each.read_at_least(6 * kBlock + 10));
    auto purge = client("a");
    purge.begin("PURGE", "/file");
    EXPECT_EQ(purge.read().status, 200);
    const auto old = file.content;
    file.content = bytes(kLength, 5);
    file.etag = "\"v2\"";
    EXPECT_TRUE(get("a", "/file").body == file.content);
    rest.open();
    for (auto& each : clients) EXPECT_TRUE(each.read().body == old);
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(FetchBlocksOnce, IsLeftOnceForAFetchOverAFasterConnection) {
    file.content = bytes(40 * kBlock);
    constants.peers.stall = 500ms;
    std::atomic<bool> ends = false;
    std::atomic<int> asked = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target != "/file" || asked++ > 0) return file.answer(e);
        e.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(file.content.size()) +
               "\r\nETag: " + file.etag + "\r\nAccept-Ranges: bytes\r\n" + file.more + "\r\n");
        // A connection that the origin holds at 8 KB/s.
        for (std::size_t sent = 0; sent < file.content.size() && !ends; sent += 800) {
            e.send(std::string_view(file.content).substr(sent, 800));
            std::this_thread::sleep_for(100ms);
        }
        e.keep = false;
    });
    start_all();
    for (const std::string node : {"a", "b", "c"})  // the rate of the origin becomes known
        for (int i = 0; i < 3; ++i) get(node, "/" + node + std::to_string(i));
    const auto before = origin.requests();
    auto first = ask("a");
    EXPECT_TRUE(first.front().read_at_least(10));
    auto others = ask("bc");
    for (auto& each : others) EXPECT_TRUE(each.read().body == file.content);
    EXPECT_LE(origin.requests() - before, 3u);
    ends = true;
}

TEST_F(FetchBlocksOnce, OfFarApartReadersIsFetchedByOneForEachPlace) {
    Gate rest;
    const auto scripted = origin.set(stops_after(10, rest));
    start_all();
    auto first = ask("a");
    EXPECT_TRUE(first.front().read_at_least(10));
    ASSERT_TRUE(eventually([&] { return announced("a", 1); })) << "a cold part is nobody's block";
    const auto far = "Range: bytes=" + std::to_string(16 * kBlock) + "-\r\n";
    auto others = ask("bcd", far);
    for (auto& each : others) EXPECT_TRUE(each.read().body == file.content.substr(16 * kBlock));
    ASSERT_TRUE(eventually([&] { return announced("b", 5); }));
    rest.open();
    EXPECT_EQ(first.front().read().body, file.content);
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_LT(status("a").work.bytes_from_peers, 3 * kBlock) << "its answer has them, too";
}

TEST_F(FetchBlocksOnce, AreTakenFromSeveralHoldersAtATimeAndAtTheirBandwidth) {
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    for (const auto node : kAll) {
        auto each = settings(std::string(1, node));
        each.cluster->bandwidth = 1024;  // a block takes seconds
        start(each);
    }
    for (const auto node : kAll)
        ASSERT_TRUE(eventually([&] { return in_sync(std::string(1, node)); })) << node;
    get("a", "/file", "Range: bytes=0-" + std::to_string(4 * kBlock - 1) + "\r\n");
    ASSERT_TRUE(eventually([&] { return announced("a", 5); }));
    get("b", "/file",
        "Range: bytes=" + std::to_string(4 * kBlock) + '-' + std::to_string(8 * kBlock - 1) +
            "\r\n");
    ASSERT_TRUE(eventually([&] { return announced("b", 5); }));
    auto reader = ask("d");
    EXPECT_TRUE(reader.front().read_at_least(1));
    const auto open_at = [&](const std::string& node) {
        const auto peer = seen("d", node);
        return peer.asked - peer.hits - peer.refused - peer.failures - peer.false_hits;
    };
    EXPECT_TRUE(eventually([&] { return open_at("a") >= 3 && open_at("b") >= 1; }));
    EXPECT_TRUE(eventually([&] { return status("a").work.bandwidth_waits > 0; }));
    for (const auto* node : {"d", "a", "b", "c"}) kill(node);
}

TEST_F(FetchBlocksOnce, AreAskedOfTheOriginBesideANodeThatGivesThemAtASmallBandwidth) {
    constexpr std::size_t kLarge = 64 * 1024;
    file.content = bytes(12 * kLarge);
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    for (const std::string node : {"a", "b"}) {
        auto each = settings(node, 2);
        each.cache.block = kLarge;
        each.cluster->bandwidth = 1024;
        start(each);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    get("a", "/file");
    ASSERT_TRUE(eventually([&] { return announced("a", 13); }));
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(get("b", "/file").body == file.content);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 20s) << "a block from a takes 64 s";
    EXPECT_GT(status("b").work.origin_hedges, 0u);
    for (const auto* node : {"b", "a"}) kill(node);
}

/// Node a, which has files, and node b, which looks for a's objects at a stand-in.
class FetchBlocksBeside : public FetchBlocksOnce {
protected:
    FetchBlocksBeside() { encrypt = false; }
    ~FetchBlocksBeside() override { never.open(); }

    /// What answers b in place of a. It ends after `never` is open.
    ScriptedOrigin& stand_in(ScriptedOrigin::Script script) {
        return stand_in_.emplace(std::move(script));
    }
    void start_both(std::chrono::milliseconds budget) {
        set_peer_budget(budget);
        start(settings("a", 2));
        auto other = settings("b", 2);
        other.cluster->peers.front().http = {"127.0.0.1", stand_in_->port()};
        other.limits.body_windows = kWindows;
        start(other);
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
    std::string explained(std::string_view target, std::string_view name) const {
        const auto url = "http%3A%2F%2Forigin.test%2F" + std::string(target.substr(1));
        const auto page = nlohmann::json::parse(admin("b", "/api/v1/explain?url=" + url).body);
        const auto found = page.find(name);
        return found != page.end() && found->is_string() ? found->get<std::string>() : "";
    }
    /// A target for which nodes meet at this one.
    std::string target_at(std::string_view node) const {
        for (int i = 0; i < 100; ++i) {
            auto target = "/file" + std::to_string(i);
            if (explained(target, "meeting_point") == node) return target;
        }
        return {};
    }
    /// The index of the file, and who fetches its blocks.
    void give_index(Exchange& e) const {
        e.send("HTTP/1.1 304 Not Modified\r\nContent-Length: " +
               std::to_string(file.content.size()) + "\r\nETag: " + file.etag +
               "\r\nAccept-Ranges: bytes\r\nAge: 0\r\nHearsay-Fetcher: a\r\n" + file.more + "\r\n");
    }
    void stay_silent(Exchange& e) {
        never.wait();
        e.keep = false;
    }
    static std::size_t meetings_of(const ScriptedOrigin& peer, std::string_view question) {
        std::size_t count = 0;
        for (const auto& head : peer.heads())
            if (field_of(head, "Hearsay-Meet").starts_with(question)) ++count;
        return count;
    }

    static constexpr std::uint64_t kWindows = 64 << 10;
    Gate never;

private:
    std::optional<ScriptedOrigin> stand_in_;
};

TEST_F(FetchBlocksBeside, ComeInTheOriginsAnswerWhileTheirHolderIsSilent) {
    stand_in([&](Exchange& e) { stay_silent(e); });
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start_both(100ms);
    const auto target = target_at("a");
    get("a", target);
    ASSERT_TRUE(eventually([&] { return announced("a", 21); }));
    EXPECT_TRUE(get("b", target).body == file.content);
    EXPECT_EQ(origin.requests(), 2u) << "one of each node";
    EXPECT_EQ(status("b").work.meetings_asked, 0u) << "a had left this fetch without an answer";
}

TEST_F(FetchBlocksBeside, AreAskedOfTheOriginTogetherWhileTheirHolderIsLeftAlone) {
    stand_in([&](Exchange& e) { stay_silent(e); });
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target.starts_with("/small")) return e.answer(fresh(), "small");
        file.answer(e);
    });
    start_both(100ms);
    get("b", "/file", "Range: bytes=0-9\r\n");
    get("a", "/file");
    for (int i = 0; i < 12; ++i) get("a", "/small" + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return announced("a", 33); }));
    for (int i = 0; i < 12; ++i) get("b", "/small" + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return seen("b", "a").failures >= kBreakerFailures; }));
    const auto before = origin.requests();
    EXPECT_TRUE(get("b", "/file").body == file.content);
    EXPECT_LE(origin.requests() - before, 8u) << "there are 19 blocks";
}

TEST_F(FetchBlocksBeside, AreAskedOfTheOriginBesideAHolderThatHasFetchedThemLately) {
    auto& holder = stand_in([&](Exchange& e) {
        if (!e.field("Range").empty()) return stay_silent(e);
        give_index(e);
    });
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start_both(100ms);
    get("a", "/file");
    ASSERT_TRUE(eventually([&] { return announced("a", 21); }));
    EXPECT_TRUE(get("b", "/file").body == file.content);
    EXPECT_GT(status("b").work.origin_hedges, 0u);
    EXPECT_EQ(meetings_of(holder, "follow"), 0u) << "no fetch has given a block to this client";
    EXPECT_LE(origin.requests(), 9u);
}

TEST_F(FetchBlocksBeside, LeaveTheFetchOfTheBodyToANodeThatLacksOne) {
    auto& holder = stand_in([&](Exchange& e) {
        if (e.field("Range").empty()) return give_index(e);
        e.answer("Cache-Status: a; fwd=uri-miss; detail=absent\r\n", "", "504 Gateway Timeout");
    });
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    start_both(10s);
    const auto target = target_at("b");
    get("a", target, "Range: bytes=0-" + std::to_string(4 * kBlock - 1) + "\r\n");
    ASSERT_TRUE(eventually([&] { return announced("a", 5); }));
    EXPECT_TRUE(get("b", target).body == file.content);
    EXPECT_GT(meetings_of(holder, "follow"), 0u);
    EXPECT_EQ(explained(target, "fetched_by"), "a");
}

TEST_F(FetchBlocksBeside, TakeHalfOfTheBodyWindowsAtMostAheadOfTheirReaders) {
    constexpr std::size_t kHere = 18, kClients = 8;  // a reader has four blocks under way
    file.content = bytes(40 * kBlock);
    Gate rest;
    std::atomic<bool> holds = false;
    stand_in([&](Exchange& e) { stay_silent(e); });
    const auto scripted = origin.set([&](Exchange& e) {
        if (holds) rest.wait();
        file.answer(e);
    });
    start_both(60s);
    for (std::size_t i = 0; i < kClients; ++i) {
        const auto target = "/" + std::to_string(i);
        get("b", target, "Range: bytes=0-" + std::to_string(kHere * kBlock - 1) + "\r\n");
        EXPECT_TRUE(get("a", target).body == file.content);
    }
    ASSERT_TRUE(eventually([&] { return announced("a", kClients * 41); }));
    holds = true;
    std::vector<Client> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
        clients.push_back(client("b"));
        clients.back().begin("GET", "/" + std::to_string(i));
    }
    for (auto& each : clients) EXPECT_TRUE(each.read_at_least(kHere * kBlock));
    EXPECT_GT(status("b").window_bytes, 0u);
    EXPECT_LE(status("b").window_bytes, kWindows / 2);
    clients.clear();
    never.open();
    rest.open();
}

}  // namespace fetch_blocks_once_test
}  // namespace proxy::test
