// A cache that survives: nodes with a disk, ended and begun again.
#include <atomic>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proxy/fetch/awaited_orders.hpp"
#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {
namespace disk_test {

class Disk : public NodesTest {
protected:
    Config with_disk(Config settings) const {
        settings.cache.disk = {{(directory_.path() / settings.node).string(), 256ull << 20}};
        std::filesystem::create_directories(settings.cache.disk.front().path);
        return settings;
    }
    /// Until its disk is loaded, a node writes only what is requested twice.
    void start(const Config& settings) {
        NodesTest::start(settings);
        ASSERT_TRUE(eventually([&] { return is_loaded(settings.node); }));
    }
    void restart(const Config& settings) {
        kill(settings.node);
        start(settings);
    }
    bool is_loaded(const std::string& node) const {
        for (const auto& directory : status(node).disk)
            if (directory.state == DiskStatus::State::loading) return false;
        return true;
    }
    /// The status as JSON.
    static void purge(const std::string& node, std::string_view what) {
        const auto answer = admin_client(node).ask("POST", "/api/v1/purge",
                                                   "Content-Type: application/json\r\n", what);
        EXPECT_EQ(answer.status, 200u);
    }
    /// All that was fetched is on the disk.
    bool is_written(const std::string& node, std::uint64_t objects) const {
        return status(node).store_disk.disk_objects >= objects;
    }

private:
    TemporaryDirectory directory_;
};

TEST_F(Disk, APurgeByPrefixEndsRecordsThatNobodyHasRead) {
    std::atomic<int> number{0};
    const auto scripted =
        origin.set([&](Exchange& e) { e.answer(fresh(), std::to_string(++number)); });
    const auto settings = with_disk(config("a"));
    start(settings);
    for (const auto* path : {"/d/1", "/d/e/2", "/other"}) get("a", path);
    ASSERT_TRUE(eventually([&] { return is_written("a", 3); }));
    restart(settings);
    purge("a", R"({"prefixes": ["http://origin.test/d/"]})");
    EXPECT_EQ(get("a", "/d/1").body, "4");
    EXPECT_EQ(get("a", "/other").body, "3");
    ASSERT_TRUE(eventually([&] { return is_written("a", 2); }));
    restart(settings);
    EXPECT_EQ(get("a", "/d/1").body, "4") << "a later record is not covered";
    EXPECT_EQ(get("a", "/d/e/2").body, "5") << "the order outlives the process";
    EXPECT_EQ(get("a", "/other").body, "3");
}

TEST_F(Disk, AResponseStoredUnderOtherSettingsIsNotGiven) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/cookie") return e.answer(fresh("Set-Cookie: a=b\r\n"), "x");
        if (e.target == "/plain") return e.answer(fresh(), "x");
        e.answer("Cache-Control: private\r\nCDN-Cache-Control: max-age=1000\r\n", "x");
    });
    auto settings = with_disk(config("a"));
    settings.cache.rules.store_set_cookie = true;
    start(settings);
    for (const auto* path : {"/cookie", "/targeted", "/plain"})
        EXPECT_EQ(get("a", path).status, 200u);
    ASSERT_TRUE(eventually([&] { return is_written("a", 3); }));
    settings.cache.rules.store_set_cookie = settings.cache.rules.cdn_cache_control = false;
    restart(settings);
    EXPECT_TRUE(contains(get("a", "/plain").cache_status(), "hit"));
    for (const auto* path : {"/cookie", "/targeted"})
        EXPECT_FALSE(contains(get("a", path).cache_status(), "hit")) << path;
    EXPECT_EQ(origin.requests(), 5u);
    settings.origins.front().host = "other.test";
    restart(settings);
    EXPECT_EQ(get("a", "/plain").status, 404u);
    EXPECT_EQ(get("a", "http://origin.test/plain").status, 403u);
    EXPECT_EQ(origin.requests(), 5u);
}

// RFC 9213 §3.1: the field is for caches of the origin, so it tells nothing of this lifetime.
TEST_F(Disk, GivesAgainAResponseWhoseCdnCacheControlDidNotCount) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer("Cache-Control: max-age=1000\r\nCDN-Cache-Control: max-age=500\r\n", "x");
    });
    auto settings = with_disk(config("a"));
    settings.forward.enabled = true;
    settings.origins.clear();
    settings.forward.private_destinations = Destinations::allow;
    start(settings);
    const auto url = "http://" + origin_authority() + "/both";
    EXPECT_EQ(get("a", url).status, 200u);
    ASSERT_TRUE(eventually([&] { return is_written("a", 1); }));
    restart(settings);
    EXPECT_TRUE(contains(get("a", url).cache_status(), "hit")) << get("a", url).cache_status();
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Disk, AFetchedResponseIsThereAfterARestart) {
    const auto settings = with_disk(config("a"));
    start(settings);
    const std::string large(300'000, 'x');
    const auto scripted = origin.set([&](Exchange& e) {
        e.answer(fresh("ETag: \"1\"\r\n"), e.target == "/large" ? large : "body of " + e.target);
    });
    EXPECT_EQ(get("a", "/one").body, "body of /one");
    EXPECT_EQ(get("a", "/large").body, large);
    EXPECT_TRUE(contains(get("a", "/one").field("Cache-Status"), "detail=memory"));
    ASSERT_TRUE(eventually([&] { return is_written("a", 2); }));
    restart(settings);
    const auto first = get("a", "/one");
    EXPECT_EQ(first.body, "body of /one");
    EXPECT_TRUE(contains(first.field("Cache-Status"), "hit"));
    EXPECT_TRUE(contains(first.field("Cache-Status"), "detail=disk"));
    EXPECT_EQ(get("a", "/large", "Range: bytes=299990-\r\n").body, "xxxxxxxxxx");
    EXPECT_EQ(get("a", "/large").body, large);
    EXPECT_EQ(client("a").ask("HEAD", "/large").field("Content-Length"), "300000");
    EXPECT_EQ(get("a", "/one", "If-None-Match: \"1\"\r\n").status, 304u);
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Disk, APurgedObjectDoesNotComeBack) {
    const auto settings = with_disk(config("a"));
    start(settings);
    std::atomic<int> version{1};
    const auto scripted = origin.set(
        [&](Exchange& e) { e.answer(fresh("Surrogate-Key: k\r\n"), std::to_string(version)); });
    for (const auto* target : {"/url", "/tag", "/post"}) EXPECT_EQ(get("a", target).body, "1");
    ASSERT_TRUE(eventually([&] { return is_written("a", 3); }));
    version = 2;
    EXPECT_EQ(client("a").ask("POST", "/post", "", "x").status, 200u);
    purge("a", R"({"url": "http://)" + client("a").host + R"(/url"})");
    restart(settings);
    EXPECT_EQ(get("a", "/url").body, "2");
    EXPECT_EQ(get("a", "/post").body, "2");
    EXPECT_EQ(get("a", "/tag").body, "1");
    purge("a", R"({"tags": ["k"]})");
    restart(settings);
    version = 3;
    for (const auto* target : {"/url", "/tag", "/post"}) EXPECT_EQ(get("a", target).body, "3");
}

TEST_F(Disk, PeersThatGoOnDoNotDropAgainWhatTheyHaveDropped) {
    const auto a = with_disk(config("a", 2));
    start(a);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    const auto scripted = origin.set(
        [&](Exchange& e) { e.answer(fresh("Surrogate-Key: news\r\n"), "body of " + e.target); });
    get("b", "/one");
    EXPECT_EQ(admin_client("a")
                  .ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                       R"({"tags": ["news"]})")
                  .status,
              200u);
    get("b", "/one");
    const auto told = seen("b", "a").invalidations_received;
    restart(a);
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(seen("b", "a").invalidations_received, told);
    const auto before = origin.requests();
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(origin.requests(), before);
}

TEST_F(Disk, APurgeThatIsNotWrittenIsPendingHere) {
    const auto a = with_disk(config("a", 2));
    // In the way of the file that is to tell the next instance.
    std::filesystem::create_directory(std::filesystem::path(a.cache.disk.front().path) /
                                      "hearsay.invalidations.new");
    start(a);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    const auto answer = admin_client("a").ask(
        "POST", "/api/v1/purge", "Content-Type: application/json\r\n", R"({"tags": ["news"]})");
    EXPECT_EQ(answer.status, 202u);
    const auto report = nlohmann::json::parse(answer.body);
    EXPECT_EQ(report["pending"], nlohmann::json::array({"a"}));
    EXPECT_EQ(report["confirmed"], nlohmann::json::array({"b"}));
}

TEST_F(Disk, PeersAreGivenWhatIsOnTheDisk) {
    const auto a = config("a", 2), b = with_disk(config("b", 2));
    start(a);
    start(b);
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    store("b", "/one");
    ASSERT_TRUE(eventually([&] { return is_written("b", 1); }));
    restart(b);
    // Knowledge about the earlier node must not be taken for news of this one.
    ASSERT_TRUE(eventually([&] {
        return in_sync("b") && status("b").summary.objects == 1 && announced("b", 1);
    })) << "the summary comes from the disk";
    const auto before = origin.requests();
    EXPECT_EQ(get("a", "/one").body, "body of /one");
    EXPECT_EQ(count("a", Outcome::peer_hit), 1u);
    EXPECT_EQ(origin.requests(), before);
}

TEST_F(Disk, PeersHearOfWhatAStartFindsAtOnce) {
    const auto a = config("a", 2), b = with_disk(config("b", 2));
    start(a);
    start(b);
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    constexpr std::uint64_t kObjects = 3000;
    auto keep = client("b");
    for (std::uint64_t i = 0; i < kObjects; ++i)
        ASSERT_EQ(keep.ask("GET", "/" + std::to_string(i)).status, 200u);
    ASSERT_TRUE(eventually([&] { return is_written("b", kObjects); }));
    const auto before = status("a").cluster.snapshots_received;
    restart(b);
    ASSERT_TRUE(eventually([&] { return in_sync("b") && announced("b", kObjects); }));
    EXPECT_LE(status("a").cluster.snapshots_received, before + 2) << "that of nothing, and of all";
    const auto asked = origin.requests();
    EXPECT_EQ(get("a", "/17").body, "body of /17");
    EXPECT_EQ(origin.requests(), asked);
}

TEST_F(Disk, ContentThatAPeerInvalidatedWhileTheNodeWasDownDoesNotComeBack) {
    const auto a = config("a", 2), b = with_disk(config("b", 2));
    start(a);
    start(b);
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    std::atomic<int> version{1};
    const auto scripted =
        origin.set([&](Exchange& e) { e.answer(fresh(), std::to_string(version)); });
    EXPECT_EQ(get("b", "/one").body, "1");
    ASSERT_TRUE(eventually([&] { return is_written("b", 1); }));
    kill("b");
    version = 2;
    EXPECT_EQ(client("a").ask("POST", "/one", "", "x").status, 200u);
    start(b);
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    ASSERT_TRUE(eventually([&] { return seen("a", "b").invalidations.pending == 0; }));
    EXPECT_EQ(get("b", "/one").body, "2");
}

TEST_F(Disk, IsValidatedWhileAPeerMayHaveAPurgeForIt) {
    using Clock = std::chrono::steady_clock;
    const auto b = with_disk(config("b", 2));  // its peer never comes
    start(b);
    std::atomic<bool> changed{false};
    const auto scripted =
        origin.set([&](Exchange& e) { e.answer(fresh(), changed ? "changed" : "first"); });
    auto in_time = false;
    for (int i = 0; i < 10 && !in_time; ++i) {
        const auto target = '/' + std::to_string(i);
        changed = false;
        EXPECT_EQ(get("b", target).body, "first");
        ASSERT_TRUE(eventually([&] { return is_written("b", static_cast<std::uint64_t>(i) + 1); }));
        changed = true;
        const auto since = Clock::now();
        restart(b);
        const auto at_once = get("b", target).body;
        in_time = Clock::now() < since + AwaitedOrders::kLongest;
        if (in_time) EXPECT_EQ(at_once, "changed");
    }
    if (!in_time) GTEST_SKIP() << "this machine is too slow for a start in two seconds";
}

TEST_F(Disk, LargeBodiesComeInBlocksFromTheDisk) {
    auto settings = with_disk(config("a"));
    settings.cache.block = 64 << 10;
    settings.cache.slice_from = 128 << 10;
    settings.cache.memory = 64 << 20;
    start(settings);
    const File file{made_body(1, 5'000'000)};
    const auto& large = file.content;
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    EXPECT_EQ(get("a", "/large").body, large);
    const auto in_memory = get("a", "/large", "Range: bytes=10-19\r\n");
    EXPECT_TRUE(contains(in_memory.cache_status(), "detail=memory")) << in_memory.cache_status();
    ASSERT_TRUE(eventually([&] { return is_written("a", 5'000'000 / (64 << 10)); }));
    restart(settings);
    const auto before = origin.requests();
    for (int i = 0; i < 3; ++i) {
        const auto answer = get("a", "/large");
        EXPECT_EQ(answer.body, large);
        EXPECT_TRUE(contains(answer.cache_status(), "hit")) << answer.cache_status();
        EXPECT_TRUE(contains(answer.cache_status(), "detail=disk"))
            << "its blocks stand there: " << answer.cache_status();
    }
    EXPECT_EQ(get("a", "/large", "Range: bytes=4000000-4000009\r\n").body,
              large.substr(4'000'000, 10));
    EXPECT_EQ(origin.requests(), before);
}

// RFC 9111 §5.2.1.7: content of the disk counts as stored until it proves bad.
TEST_F(Disk, OnlyIfCachedFetchesNoBlockThatProvesBad) {
    auto settings = with_disk(config("a"));
    settings.cache.block = 64 << 10;
    settings.cache.slice_from = 128 << 10;
    start(settings);
    const File file{made_body(1, 1'000'000)};
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    EXPECT_EQ(get("a", "/large").body, file.content);
    ASSERT_TRUE(eventually([&] { return is_written("a", 1'000'000 / (64 << 10)); }));
    kill("a");
    // The bytes of the third block, wherever they stand.
    for (const auto& segment : segments_in(settings.cache.disk[0].path)) {
        std::ifstream in(segment, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        const auto at = bytes.find(file.content.substr(2 * (64 << 10) + 100, 32));
        if (at != std::string::npos) overwrite(segment, at, "spoilt");
    }
    start(settings);
    const auto before = origin.requests();
    const auto part = [&](const char* range) {
        return get("a", "/large",
                   std::string("Cache-Control: only-if-cached\r\nRange: bytes=") + range + "\r\n");
    };
    EXPECT_EQ(part("10-19").body, file.content.substr(10, 10));
    const auto bad = part("131072-131081");
    EXPECT_EQ(bad.status, 504u);
    EXPECT_TRUE(contains(bad.field("Cache-Status"), "only-if-cached"));
    EXPECT_EQ(origin.requests(), before);
    EXPECT_EQ(get("a", "/large", "Range: bytes=131072-131081\r\n").body,
              file.content.substr(131'072, 10));
    EXPECT_GT(origin.requests(), before);
}

TEST_F(Disk, ExplainReadsWhatTheDiskHas) {
    const auto settings = with_disk(config("a"));
    start(settings);
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh("Surrogate-Key: t\r\n"), e.target); });
    (void)get("a", "/one");
    (void)get("a", "/two");
    ASSERT_TRUE(eventually([&] { return is_written("a", 2); }));
    restart(settings);
    const auto here = [&](const std::string& path) {
        const auto url = "http%3A%2F%2F" + client("a").host + "%2F" + path;
        return nlohmann::json::parse(admin("a", "/api/v1/explain?url=" + url).body)["here"];
    };
    EXPECT_EQ(here("one"), "fresh");
    purge("a", R"({"tags": ["t"]})");
    EXPECT_EQ(here("two"), "absent") << "whose tag stands in no index";
}

/// One body that is sent from its place on the disk, larger than the buffers of sockets.
class SentFromDisk : public Disk {
protected:
    SentFromDisk() : settings_(with_disk(config("a"))) {
        settings_.cache.slice_from = 64 << 20;
        settings_.cache.memory = 64 << 20;
        start(settings_);
        EXPECT_TRUE(get("a", "/large").body == content_.content);
        EXPECT_TRUE(eventually([&] { return is_written("a", 1); }));
        restart(settings_);
        const auto first = get("a", "/large");
        EXPECT_TRUE(first.body == content_.content) << "read as a whole, to be proved";
        EXPECT_TRUE(contains(first.cache_status(), "detail=disk")) << first.cache_status();
        asked_ = origin.requests();
    }
    const std::string& body() const { return content_.content; }
    /// Its beginning was read, and the rest does not fit into the buffers of sockets.
    Client stalled() {
        auto client = this->client();
        client.begin("GET", "/large");
        EXPECT_TRUE(client.read_at_least(1'000));
        return client;
    }
    std::vector<std::filesystem::path> segments() const {
        return segments_in(settings_.cache.disk.front().path);
    }

    static constexpr std::size_t kBytes = 7'000'000;  // more would be stored in blocks

    Config settings_;
    const File content_{made_body(1, kBytes)};
    const ScriptedOrigin::Scripted scripted_ =
        origin.set([this](Exchange& e) { content_.answer(e); });
    std::uint64_t asked_ = 0;
};

TEST_F(SentFromDisk, ComesWholeAndInParts) {
    auto client = this->client();
    for (int i = 0; i < 2; ++i) {
        const auto got = client.get("/large");
        EXPECT_TRUE(got.body == body());
        EXPECT_TRUE(contains(got.cache_status(), "detail=disk")) << got.cache_status();
    }
    const auto part = client.get("/large", "Range: bytes=262000-1310000\r\n");
    EXPECT_EQ(part.status, 206u);
    EXPECT_TRUE(part.body == body().substr(262'000, 1'310'000 - 262'000 + 1));
    EXPECT_EQ(client.get("/large", "Range: bytes=-1\r\n").body, body().substr(kBytes - 1));
    EXPECT_EQ(client.ask("HEAD", "/large").field("Content-Length"), std::to_string(kBytes));
    EXPECT_EQ(origin.requests(), asked_);
    const auto now = status("a");
    EXPECT_LT(now.cache.memory_bytes, 100'000u);
    EXPECT_EQ(now.work.bytes_to_clients, 3 * kBytes + 1'310'000 - 262'000 + 2);
}

TEST_F(SentFromDisk, AClientThatTakesItsTimeGetsAllOfIt) {
    auto slow = stalled();
    EXPECT_TRUE(get("a", "/large").body == body()) << "others do not wait";
    for (const auto& segment : segments()) std::filesystem::remove(segment);  // as room is made
    EXPECT_TRUE(slow.read().body == body());
}

TEST_F(SentFromDisk, AClientThatLeavesHurtsNobody) {
    { auto leaving = stalled(); }
    EXPECT_TRUE(get("a", "/large").body == body());
    EXPECT_EQ(origin.requests(), asked_);
}

// A reset after its end makes sendfile() raise SIGPIPE, which would end this process.
TEST_F(SentFromDisk, AClientThatEndsAndResetsHurtsNobody) {
    for (int i = 0; i < 10; ++i) {
        auto leaving = stalled();
        leaving.socket.shut_send();
        leaving.socket.reset();
    }
    EXPECT_TRUE(eventually([&] { return status("a").connections == 0; }));
    EXPECT_TRUE(get("a", "/large").body == body());
    EXPECT_EQ(origin.requests(), asked_);
}

TEST_F(SentFromDisk, ABodyThatEndsTooSoonIsCutAndFetchedAnew) {
    for (const auto& segment : segments()) std::filesystem::resize_file(segment, 100'000);
    const auto got = get("a", "/large");
    EXPECT_EQ(got.status, 200u) << "its head is in memory";
    EXPECT_FALSE(got.complete);
    EXPECT_TRUE(got.body.empty());
    EXPECT_TRUE(get("a", "/large").body == body());
    EXPECT_EQ(origin.requests(), asked_ + 1);
}

TEST_F(SentFromDisk, AFlippedBodyIsFetchedAnew) {
    kill("a");
    for (const auto& segment : segments()) overwrite(segment, 3'000'000, "??");
    start(settings_);
    EXPECT_TRUE(get("a", "/large").body == body());
    EXPECT_EQ(origin.requests(), asked_ + 1);
}

TEST_F(Disk, TwoNodesDoNotShareADirectory) {
    const auto settings = with_disk(config("a"));
    start(settings);
    auto second = config("b");
    second.cache.disk = settings.cache.disk;
    try {
        Node node{LoadedConfig(second)};
        FAIL() << "a second node took the directory";
    } catch (const std::exception& error) {
        EXPECT_TRUE(contains(error.what(), settings.cache.disk.front().path)) << error.what();
    }
}

}  // namespace disk_test
}  // namespace proxy::test
