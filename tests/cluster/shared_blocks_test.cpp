// Bodies in blocks in a cluster: the givers of each block, and the statements to clients and in the
// books.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace shared_blocks_test {

using nlohmann::json;

class SharedBlocks : public NodesTest {
protected:
    ~SharedBlocks() override {
        for (const auto* node : {"a", "b", "c"}) kill(node);
    }

    Config settings(const std::string& node, unsigned nodes = 3) const {
        auto result = nodes > 1 ? config(node, nodes) : config(node);
        result.cache.block = kBlock;
        result.cache.slice_from = 4 * kBlock;
        result.log.access = log_file(node);
        return result;
    }
    void start_all(const std::vector<Config>& nodes) {
        for (const auto& each : nodes) start(each);
        for (const auto& each : nodes)
            ASSERT_TRUE(eventually([&] { return in_sync(each.node); })) << each.node;
    }
    void start_three() { start_all({settings("a"), settings("b"), settings("c")}); }
    /// The origin serves `file`, made so long, from here on.
    void serve(std::size_t length = kLength) {
        file.content = bytes(length);
        scripted_.reset(new ScriptedOrigin::Scripted(origin.set([this](Exchange& e) {
            const std::lock_guard lock(mutex_);
            file.answer(e);
        })));
    }
    void get_and_announce(const std::string& node, std::string_view fields, std::uint64_t objects) {
        get(node, "/file", fields);
        ASSERT_TRUE(eventually([&] { return announced(node, objects); }));
    }
    void start_with_all_at_a() {
        serve();
        start_three();
        get_and_announce("a", "", 6);  // the head, and five blocks
    }
    void change(std::string content, std::string etag) {
        const std::lock_guard lock(mutex_);
        file.content = std::move(content);
        file.etag = std::move(etag);
    }
    Answer part(const std::string& node, std::string_view range) const {
        return get(node, "/file", "Range: bytes=" + std::string(range) + "\r\n");
    }
    Asked asked() const { return ranges_asked(origin); }

    std::string log_file(const std::string& node) const { return folder_.path() / (node + ".log"); }
    /// The lines of a node that has ended.
    std::vector<json> log(const std::string& node) {
        kill(node);
        std::ifstream in(log_file(node));
        std::vector<json> lines;
        for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
        return lines;
    }
    WorkerCounters work(const std::string& node) const { return status(node).work; }

    /// The rest of a block may still be coming when its client has all it wanted.
    void expect_bytes(const std::string& node, std::uint64_t WorkerCounters::*counter,
                      std::uint64_t count) const {
        EXPECT_TRUE(eventually([&] { return work(node).*counter >= count; }));
        EXPECT_EQ(work(node).*counter, count) << node;
    }

    void expect_balanced() const {
        const std::vector<std::string> names{"a", "b", "c"};
        std::uint64_t from = 0, to = 0;
        for (const auto& asker : names) {
            from += work(asker).bytes_from_peers;
            to += work(asker).bytes_to_peers;
            for (const auto& giver : names) {
                if (asker == giver) continue;
                const auto asked = seen(asker, giver);
                const auto given = seen(giver, asker).served;
                EXPECT_LE(asked.hits, given) << asker << giver;
                EXPECT_LE(given, asked.hits + asked.too_old + asked.failures) << asker << giver;
            }
        }
        EXPECT_EQ(from, to);
    }

    static constexpr std::size_t kLength = 20'000;
    File file;

private:
    std::mutex mutex_;  // for `file`, once it is served and changes
    std::unique_ptr<ScriptedOrigin::Scripted> scripted_;
    const TemporaryDirectory folder_;
};

TEST_F(SharedBlocks, AreFoundAtAPeerWithoutARequestToTheOrigin) {
    start_with_all_at_a();
    const auto requests = origin.requests();
    const auto answer = get("b", "/file");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.field("Content-Length"), "20000");
    EXPECT_EQ(answer.field("Content-Range"), "");
    EXPECT_EQ(answer.body, file.content);
    EXPECT_TRUE(contains(answer.cache_status(), ", b; fwd=uri-miss; ")) << answer.cache_status();
    EXPECT_TRUE(answer.cache_status().ends_with("detail=PEER_a")) << answer.cache_status();
    EXPECT_EQ(origin.requests(), requests);
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    expect_bytes("b", &WorkerCounters::bytes_from_peers, 20'000u);
    expect_bytes("b", &WorkerCounters::bytes_from_origins, 0u);
    EXPECT_EQ(work("b").bytes_to_clients, 20'000u);
    EXPECT_EQ(work("a").bytes_to_peers, 20'000u);
    EXPECT_EQ(work("a").bytes_to_clients, 20'000u);
    EXPECT_EQ(seen("b", "a").hits, 6u);  // the head, and five blocks
    EXPECT_TRUE(get("b", "/file").cache_status().starts_with("b; hit"));
    expect_balanced();
    const auto line = log("b").front();
    EXPECT_EQ(line["outcome"], "peer_hit");
    EXPECT_EQ(line["source"], "peer");
    EXPECT_EQ(line["peer"], "a");
}

TEST_F(SharedBlocks, OfAPartAreThoseOfThatPart) {
    start_with_all_at_a();
    const auto requests = origin.requests();
    const auto answer = part("c", "5000-5009");
    EXPECT_EQ(answer.status, 206u);
    EXPECT_EQ(answer.field("Content-Range"), "bytes 5000-5009/20000");
    EXPECT_EQ(answer.body, file.content.substr(5000, 10));
    EXPECT_TRUE(answer.cache_status().ends_with("detail=PEER_a")) << answer.cache_status();
    EXPECT_EQ(count("c", Outcome::peer_hit), 1u);
    expect_bytes("c", &WorkerCounters::bytes_from_peers, kBlock);
    EXPECT_EQ(work("c").bytes_to_clients, 10u);
    EXPECT_TRUE(part("c", "5000-5009").cache_status().starts_with("c; hit"));

    const auto whole = get("c", "/file");  // the other four
    EXPECT_EQ(whole.body, file.content);
    EXPECT_TRUE(contains(whole.cache_status(), "c; fwd=partial")) << whole.cache_status();
    EXPECT_TRUE(whole.cache_status().ends_with("detail=PEER_a")) << whole.cache_status();
    EXPECT_EQ(count("c", Outcome::peer_hit), 2u);
    EXPECT_EQ(count("c", Outcome::local_hit), 1u);
    EXPECT_EQ(origin.requests(), requests);
    expect_balanced();
    EXPECT_EQ(log("c").back()["cache"], "partial");
}

TEST_F(SharedBlocks, OfASuffixAreFoundAtAPeerToo) {
    start_with_all_at_a();
    const auto requests = origin.requests();
    const auto answer = part("c", "-10");
    EXPECT_EQ(answer.status, 206u);
    EXPECT_EQ(answer.body, file.content.substr(19'990));
    EXPECT_EQ(count("c", Outcome::peer_hit), 1u);
    EXPECT_EQ(origin.requests(), requests);
}

TEST_F(SharedBlocks, AreTakenFromWhoeverHasThem) {
    serve();
    start_three();
    get_and_announce("a", "Range: bytes=0-8191\r\n", 3);
    get_and_announce("b", "Range: bytes=8192-16383\r\n", 3);
    const auto before = asked().size();
    const auto answer = get("c", "/file");
    EXPECT_EQ(answer.body, file.content);
    const auto all = asked();
    EXPECT_EQ(Asked(all.begin() + static_cast<std::ptrdiff_t>(before), all.end()),
              Asked{"bytes=16384-19999"});
    expect_bytes("c", &WorkerCounters::bytes_from_peers, 16'384u);
    expect_bytes("c", &WorkerCounters::bytes_from_origins, 3'616u);
    EXPECT_EQ(count("c", Outcome::peer_hit), 1u);
    EXPECT_EQ(seen("c", "a").false_hits + seen("c", "b").false_hits, 0u);
    expect_balanced();
}

TEST_F(SharedBlocks, AreNotAskedForOneByOneOfWhoHasButAFew) {
    serve(15 * kBlock);
    start_three();
    get_and_announce("a", "Range: bytes=0-10\r\n", 2);
    EXPECT_EQ(get("c", "/file").body, file.content);
    EXPECT_EQ(seen("c", "a").hits, 2u);     // the head, and the one block
    EXPECT_LE(seen("c", "a").refused, 2u);  // it does not hold the whole
    EXPECT_EQ(asked().size(), 1u + 14u);
}

TEST_F(SharedBlocks, CountAsWhatMostOfTheBytesCost) {
    serve(20'480);
    start(settings("a", 1));
    part("a", "0-0");
    EXPECT_EQ(count("a", Outcome::origin_fetch), 1u);
    expect_bytes("a", &WorkerCounters::bytes_from_origins, kBlock);

    const auto most_missing = part("a", "0-12287");
    EXPECT_EQ(most_missing.cache_status().substr(0, 14), "a; fwd=partial");
    EXPECT_FALSE(contains(most_missing.cache_status(), "detail")) << most_missing.cache_status();
    EXPECT_EQ(count("a", Outcome::origin_fetch), 2u);
    expect_bytes("a", &WorkerCounters::bytes_from_origins, 3 * kBlock);

    const auto most_here = part("a", "0-16383");
    EXPECT_EQ(most_here.cache_status().substr(0, 14), "a; fwd=partial");
    EXPECT_TRUE(most_here.cache_status().ends_with("detail=mostly_local"));
    EXPECT_EQ(count("a", Outcome::local_hit), 1u);
    expect_bytes("a", &WorkerCounters::bytes_from_origins, 4 * kBlock);

    const auto all_missing = part("a", "16384-");
    EXPECT_EQ(all_missing.cache_status().substr(0, 14), "a; fwd=partial");
    EXPECT_EQ(count("a", Outcome::origin_fetch), 3u);
    EXPECT_EQ(work("a").bytes_to_clients, 1u + 12'288u + 16'384u + 4'096u);
    const auto lines = log("a");
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[1]["source"], "origin");
    EXPECT_EQ(lines[1]["cache"], "partial");
    EXPECT_EQ(lines[2]["source"], "memory");
    EXPECT_EQ(lines[2]["outcome"], "local_hit");
}

TEST_F(SharedBlocks, AreAHitOnlyWhenNoneOfManyIsMissing) {
    serve(40 * kBlock);
    start(settings("a", 1));
    part("a", "0-16383");
    part("a", "20480-");  // all but the fifth, at which no sample of 32 looks
    const auto most_here = get("a", "/file");
    EXPECT_EQ(most_here.body, file.content);
    EXPECT_EQ(most_here.cache_status().substr(0, 14), "a; fwd=partial");
    EXPECT_TRUE(most_here.cache_status().ends_with("detail=mostly_local"));
    EXPECT_EQ(asked().size(), 3u);
    EXPECT_TRUE(get("a", "/file").cache_status().starts_with("a; hit"));
    EXPECT_EQ(asked().size(), 3u);
}

TEST_F(SharedBlocks, TooManyToBeLookedForAreNotCalledAHit) {
    serve(1025 * kBlock);
    start(settings("a", 1));
    get("a", "/file");
    const auto again = get("a", "/file");
    EXPECT_EQ(again.body, file.content);
    EXPECT_EQ(again.cache_status().substr(0, 14), "a; fwd=partial");
    EXPECT_TRUE(again.cache_status().ends_with("detail=mostly_local"));
    EXPECT_EQ(asked().size(), 1u);
    EXPECT_EQ(count("a", Outcome::local_hit), 1u);
    const auto fewer = part("a", "4096-");
    EXPECT_EQ(fewer.body, file.content.substr(kBlock));
    EXPECT_TRUE(fewer.cache_status().starts_with("a; hit")) << fewer.cache_status();
}

TEST_F(SharedBlocks, OfALargeBodyInOnePieceAreGivenForAPart) {
    serve(30'000);
    auto giver = settings("a");
    giver.cache.slice_from = 1 << 20;
    start_all({giver, settings("b"), settings("c")});
    get_and_announce("a", "", 1);
    EXPECT_EQ(part("b", "5000-5009").body, file.content.substr(5000, 10));
    expect_bytes("b", &WorkerCounters::bytes_from_peers, kBlock);
    const auto whole = get("b", "/file");  // the blocks that only the target's key promises
    EXPECT_EQ(whole.body, file.content);
    EXPECT_TRUE(whole.cache_status().ends_with("detail=PEER_a")) << whole.cache_status();
    expect_bytes("b", &WorkerCounters::bytes_from_peers, 30'000u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 2u);
    EXPECT_EQ(asked(), Asked{"-"});
    EXPECT_EQ(get("c", "/file").body, file.content);
    EXPECT_EQ(asked(), Asked{"-"});
    expect_balanced();
}

TEST_F(SharedBlocks, AreNotNeededForAPartOfASmallBody) {
    serve(10'000);
    start_three();
    get_and_announce("a", "", 1);
    EXPECT_EQ(part("b", "5000-5009").body, file.content.substr(5000, 10));
    ASSERT_TRUE(eventually([&] { return status("b").cache.objects == 1; }));
    EXPECT_TRUE(get("b", "/file").cache_status().starts_with("b; hit"));  // it came whole
    EXPECT_EQ(asked(), Asked{"-"});
}

TEST_F(SharedBlocks, OfAnotherSizeAreNotMistaken) {
    serve();
    auto other = settings("b");
    other.cache.block = 2 * kBlock + 1;
    start_all({settings("a"), other, settings("c")});
    get_and_announce("a", "", 6);
    EXPECT_EQ(part("b", "5000-9999").body, file.content.substr(5000, 5000));
    EXPECT_EQ(get("b", "/file").body, file.content);
    expect_bytes("b", &WorkerCounters::bytes_from_origins, 20'000u);
    ASSERT_TRUE(eventually([&] { return announced("b", 4); }));
    EXPECT_EQ(get("c", "/file").body, file.content);
    EXPECT_EQ(seen("b", "a").false_hits, 0u);
    expect_balanced();
}

TEST_F(SharedBlocks, OfAVersionThatTheOriginHasNoMoreAreNotMixedWithTheNext) {
    serve();
    start_three();
    get_and_announce("a", "Range: bytes=0-4095\r\n", 2);
    change(bytes(20'000, 9), "\"v2\"");
    // Its first block is nowhere but at the origin, which has another version.
    EXPECT_EQ(part("b", "4096-5000").body, file.content.substr(4096, 905));
    EXPECT_EQ(get("b", "/file").body, file.content);
    expect_balanced();
}

TEST_F(SharedBlocks, OfWhatIsStaleArePromisedByItsHeadOnceThatIsValidated) {
    file.more = "Cache-Control: max-age=4\r\n";
    start_with_all_at_a();
    ASSERT_TRUE(eventually([&] {
        return contains(get("a", "/file", "Cache-Control: only-if-cached\r\n").head, " 504 ");
    }));
    const auto before = asked().size();
    const auto answer = get("b", "/file");
    EXPECT_EQ(answer.body, file.content);
    EXPECT_EQ(asked().size(), before + 1);  // the 304
    EXPECT_TRUE(contains(answer.cache_status(), "fwd-status=304")) << answer.cache_status();
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(seen("b", "a").stale_hits, 1u);
    expect_balanced();
}

TEST_F(SharedBlocks, AreNotKeptByWhoKeepsNoCopies) {
    serve();
    auto passing = settings("b");
    passing.cluster->copy = CopyPolicy::never;
    start_all({settings("a"), passing, settings("c")});
    get_and_announce("a", "", 6);
    const auto requests = origin.requests();
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(part("b", "5000-8999").body, file.content.substr(5000, 4000));
        EXPECT_EQ(get("b", "/file").body, file.content);
    }
    EXPECT_EQ(count("b", Outcome::peer_hit), 4u);
    EXPECT_EQ(status("b").cache.objects, 0u);
    EXPECT_EQ(origin.requests(), requests);
    EXPECT_EQ(seen("b", "a").failures, 0u);
}

TEST_F(SharedBlocks, AreGoneEverywhereAfterAPurge) {
    start_with_all_at_a();
    EXPECT_EQ(get("b", "/file").body, file.content);
    ASSERT_TRUE(eventually([&] { return announced("b", 6); }));
    change(bytes(20'000, 3), file.etag);  // under the same tag: a purge is for such mistakes
    ASSERT_EQ(client("c").ask("PURGE", "/file").status, 200u);
    for (const auto* node : {"c", "a", "b"}) {
        EXPECT_EQ(part(node, "5000-5009").body, file.content.substr(5000, 10)) << node;
        EXPECT_EQ(get(node, "/file").body, file.content) << node;
    }
}

TEST_F(SharedBlocks, KeepBalancedBooks) {
    serve();
    start_three();
    std::uint32_t random = 11;
    std::uint64_t sent = 0;
    for (int i = 0; i < 300; ++i) {
        random = random * 1664525 + 1013904223;
        const std::string node(1, static_cast<char>('a' + (random >> 8) % 3));
        const auto target = "/" + std::to_string((random >> 10) % 12);
        const auto first = (random >> 14) % 19'000;
        const auto fields = (random >> 30) == 0 ? std::string()
                                                : "Range: bytes=" + std::to_string(first) + "-" +
                                                      std::to_string(first + 999) + "\r\n";
        const auto answer = get(node, target, fields);
        EXPECT_EQ(answer.body, fields.empty() ? file.content : file.content.substr(first, 1000));
        sent += answer.body.size();
    }
    std::uint64_t to_clients = 0, from_origins = 0, peer_hits = 0;
    for (const auto* node : {"a", "b", "c"}) {
        to_clients += work(node).bytes_to_clients;
        from_origins += work(node).bytes_from_origins;
        peer_hits += count(node, Outcome::peer_hit);
        EXPECT_EQ(count(node, Outcome::error), 0u);
    }
    EXPECT_EQ(to_clients, sent);
    EXPECT_GT(peer_hits, 0u);
    EXPECT_LE(from_origins, 12u * 20'000u * 2);  // most of it once
    expect_balanced();
}

TEST_F(SharedBlocks, GoOnAtTheOriginWhenAPeerDiesInsideOne) {
    encrypt = false;
    serve();
    std::atomic<int> peer_requests{0};
    ScriptedOrigin stand_in([&](Exchange& e) {  // in place of a
        if (e.field("Range").empty())
            return e.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nAge: 5\r\n" + fresh() +
                          "Content-Length: 20000\r\n\r\n");
        if (++peer_requests > 1)
            return e.answer("Cache-Status: a; fwd=uri-miss; detail=absent\r\n", "", "504 No");
        e.send(
            "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Length: 4096\r\n"
            "Content-Range: bytes 0-4095/20000\r\n\r\n" +
            file.content.substr(0, 1000));
        e.keep = false;
    });
    auto asker = settings("b", 2);
    asker.cluster->peers.front().http = {"127.0.0.1", stand_in.port()};
    start_all({settings("a", 2), asker});
    get_and_announce("a", "", 6);
    const auto before = asked().size();
    const auto answer = get("b", "/file");
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body, file.content);
    const auto all = asked();  // the next block may be asked for first
    EXPECT_EQ(
        std::count(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(), "bytes=1000-4095"),
        1);
    expect_bytes("b", &WorkerCounters::bytes_from_peers, 1000u);
    expect_bytes("b", &WorkerCounters::bytes_from_origins, 19'000u);
    EXPECT_EQ(count("b", Outcome::origin_fetch), 1u);
    EXPECT_EQ(seen("b", "a").failures, 1u);
}

class Bytes : public SharedBlocks {};

TEST_F(Bytes, CountBodiesAloneHoweverTheyAreFramed) {
    const auto text = bytes(100'000);
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/chunks") {
            e.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + fresh() + "\r\n");
            for (std::size_t at = 0; at < text.size(); at += 20'000)
                e.send("4e20\r\n" + text.substr(at, 20'000) + "\r\n");
            return e.send("0\r\n\r\n");
        }
        e.answer(fresh("ETag: \"v1\"\r\n"), e.method == "HEAD" ? "" : text);
    });
    start(settings("a", 1));
    EXPECT_EQ(get("a", "/chunks").body, text);
    EXPECT_EQ(client().ask("POST", "/chunks", "", "x").body, text);
    EXPECT_EQ(work("a").bytes_to_clients, 200'000u);
    expect_bytes("a", &WorkerCounters::bytes_from_origins, 200'000u);
    client().ask("HEAD", "/one");
    get("a", "/one");
    EXPECT_EQ(get("a", "/one", "If-None-Match: \"v1\"\r\n").status, 304u);
    EXPECT_EQ(client().ask("HEAD", "/one").status, 200u);
    EXPECT_EQ(get("a", "/one", "Range: bytes=0-9\r\n").status, 206u);
    EXPECT_EQ(work("a").bytes_to_clients, 300'010u);
    expect_bytes("a", &WorkerCounters::bytes_from_origins, 300'000u);
}

TEST_F(Bytes, OfAnAnswerThatBreaksOffCountAsFarAsItCame) {
    const auto text = bytes(50'000);
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n" + fresh() + "\r\n" + text);
        e.keep = false;
    });
    start(settings("a", 1));
    for (const auto* method : {"GET", "POST"}) {
        const auto before = work("a");
        const auto answer = client().ask(method, "/one", "", "");
        EXPECT_FALSE(answer.complete);
        const auto after = work("a");
        EXPECT_EQ(after.bytes_to_clients - before.bytes_to_clients, answer.body.size());
        EXPECT_EQ(after.bytes_from_origins - before.bytes_from_origins, 50'000u);
    }
    EXPECT_EQ(count("a", Outcome::error), 1u);  // and an uncacheable one
    const auto lines = log("a");
    EXPECT_EQ(lines.front()["aborted"], true);
    EXPECT_EQ(lines.front()["outcome"], "error");
}

class Roles : public SharedBlocks {};

TEST_F(Roles, DistinguishClientRequestsFromPeerRequests) {
    start_three();
    store("a", "/one");
    get("b", "/one");
    const auto lines = log("a");
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0]["role"], "client");
    EXPECT_EQ(lines[1]["role"], "peer");
    EXPECT_EQ(lines[1]["peer"], "b");
}

TEST_F(Roles, OfPeersAreLeftOutOnWish) {
    auto quiet = settings("a");
    quiet.log.peers = false;
    start_all({quiet, settings("b"), settings("c")});
    store("a", "/one");
    get("b", "/one");
    ASSERT_EQ(seen("a", "b").served, 1u);
    const auto lines = log("a");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0]["role"], "client");
}

}  // namespace shared_blocks_test
}  // namespace proxy::test
