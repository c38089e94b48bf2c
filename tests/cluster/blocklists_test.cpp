#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "proxy/config/config_json.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"
#include "tests/cluster/log_capture.hpp"
#include "tests/proxy/blocklists/blocklist_kit.hpp"

namespace proxy::test {
namespace blocklists_test {

using nlohmann::json;

/// A forward proxy whose lists have `listed.test`, and paths of the origin at 127.0.0.1.
class ListedTargets : protected LogCapture, public NodesTest, protected ListFolder {
protected:
    ListedTargets() { spdlog::set_level(spdlog::level::info); }
    ~ListedTargets() override {
        for (const auto* node : {"a", "b"}) kill(node);
    }

    Config forward_config(const std::string& node = "a") const {
        auto settings = config(node);
        settings.origins.clear();
        settings.forward = forward;
        settings.forward.private_destinations = Destinations::allow;
        settings.forward.connect_ports = {origin.port()};
        return settings;
    }
    void add_usual_lists() {
        add("domains", kDomains, "# comment\nlisted.test\n");
        add("urls", kUrls, "127.0.0.1/bad\n");
    }
    std::uint64_t refused() const { return status("a").work.refusals[RequestRefusal::blocklist]; }
    /// Starts the node from a file, so that it can reload.
    void run(const Config& settings) {
        write_config(settings);
        start(settings, path("node.json"));
    }
    void write_config(const Config& settings) const {
        write("node.json", json::parse(effective_config(settings)).dump(2));
    }
    static Answer reload() { return admin_client().ask("POST", "/api/v1/reload", "", ""); }
};

TEST_F(ListedTargets, GetAPageWithListAndLine) {
    add_usual_lists();
    start(forward_config());
    auto connection = client();
    const auto refusal = connection.get("http://www.listed.test/any");
    EXPECT_EQ(refusal.status, 403u);
    EXPECT_EQ(refusal.body,
              "This proxy does not let requests through to www.listed.test, which is "
              "on a list: " +
                  path("domains") + ", line 2 (forward.blocklists).\n");
    EXPECT_TRUE(contains(refusal.field("Content-Type"), "text/plain"));
    EXPECT_EQ(refusal.cache_status(), "a; detail=blocklist");
    EXPECT_EQ(connection.get(url("/good")).status, 200u) << "the connection goes on";
    EXPECT_EQ(connection.get(url("/bad/page")).status, 403u);
    EXPECT_EQ(connection.ask("HEAD", "http://listed.test/").status, 403u);
    EXPECT_EQ(connection.ask("POST", url("/bad"), "", "x").status, 403u);
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(refused(), 4u);
}

/// Takes the content of the open files without a name below `folder`, as a failing disk does.
std::size_t cut_unnamed_files(const std::string& folder) {
    std::size_t cut = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const auto name = std::filesystem::read_symlink(each.path(), gone).string();
        if (gone || !name.starts_with(folder) || !name.ends_with(" (deleted)")) continue;
        if (::truncate(each.path().c_str(), 0) == 0) ++cut;
    }
    return cut;
}

TEST_F(ListedTargets, GetARefusalWhereTheDiskFailsAndOthersGoOn) {
    add_usual_lists();
    start(forward_config());
    ASSERT_EQ(cut_unnamed_files(path("")), 1u);
    const auto refusal = get("a", "http://www.listed.test/any");
    EXPECT_EQ(refusal.status, 503u);
    EXPECT_EQ(refusal.cache_status(), "a; detail=blocklist");
    EXPECT_TRUE(contains(refusal.body, "may be on a list")) << refusal.body;
    EXPECT_EQ(get("a", "http://localhost:" + std::to_string(origin.port()) + "/x").status, 200u);
    EXPECT_EQ(status("a").work.blocklist_unreadable, 1u);
    EXPECT_EQ(status("a").work.blocklist_false_positives, 0u);
    EXPECT_EQ(logged("the sorted file of the blocklists cannot be read").size(), 1u);
    const auto explained = admin("a", "/api/v1/explain?url=http://listed.test/").body;
    EXPECT_TRUE(contains(explained, "cannot be read")) << explained;
}

TEST_F(ListedTargets, PassWhereTheDiskFailsAndAllListsOnlyLog) {
    add("domains", kDomains, "localhost\n", BlocklistAction::log);
    start(forward_config());
    ASSERT_EQ(cut_unnamed_files(path("")), 1u);
    EXPECT_EQ(get("a", "http://localhost:" + std::to_string(origin.port()) + "/x").status, 200u);
    EXPECT_EQ(status("a").work.blocklist_unreadable, 1u);
}

TEST_F(ListedTargets, AreRefusedInEverySpelling) {
    add_usual_lists();
    start(forward_config());
    for (const auto* target :
         {"http://LISTED.test/", "http://listed.test./", "http://listed.test:8080/",
          "HTTP://www.listed.test", "http://list%65d.test/", "https://listed.test/"})
        EXPECT_EQ(get("a", target).status, 403u) << target;
    for (const auto* path : {"/bad", "/BAD", "/bad/", "/bad?x=1", "//bad", "/./bad", "/x/../bad",
                             "/%62ad", "/bad%2Fpage", "/%2e/bad"})
        EXPECT_EQ(get("a", url(path)).status, 403u) << path;
    // Refused as a target before, because Host and target would differ.
    EXPECT_EQ(get("a", "http://user@listed.test/").status, 400u);
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(ListedTargets, AreRefusedToConnectWhichHasNoPath) {
    add_usual_lists();
    auto settings = forward_config();
    settings.forward.connect_ports.push_back(443);
    start(settings);
    const auto refusal = client().ask("CONNECT", "www.LISTED.test:443");
    EXPECT_EQ(refusal.status, 403u);
    EXPECT_TRUE(contains(refusal.body, path("domains") + ", line 2")) << refusal.body;
    EXPECT_EQ(refusal.cache_status(), "a; detail=blocklist");
    EXPECT_EQ(refused(), 1u);
    auto tunnel = client();
    tunnel.begin("CONNECT", origin_authority());
    std::string head;
    while (!head.ends_with("\r\n\r\n") && tunnel.socket.receive(head, 1)) continue;
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << "an entry with a path is not for tunnels";
}

TEST_F(ListedTargets, AreRefusedOverHttp2) {
    add_usual_lists();
    auto settings = forward_config();
    settings.forward.connect_ports.push_back(443);
    start(settings);
    Http2Client client(Socket::connect(address("a"), kProxyPort));
    const auto get = [&](const std::string& host, const std::string& path) {
        return client.fetch(
            {{":method", "GET"}, {":scheme", "http"}, {":authority", host}, {":path", path}});
    };
    const auto refusal = get("www.listed.test", "/");
    EXPECT_EQ(refusal.status, 403u);
    EXPECT_TRUE(contains(refusal.body, path("domains") + ", line 2")) << refusal.body;
    EXPECT_EQ(refusal.field("cache-status"), "a; detail=blocklist");
    EXPECT_EQ(get(origin_authority(), "/bad").status, 403u);
    EXPECT_EQ(get(origin_authority(), "/good").status, 200u);
    const auto& connect = client.fetch({{":method", "CONNECT"}, {":authority", "listed.test:443"}});
    EXPECT_EQ(connect.status, 403u);
    EXPECT_EQ(refused(), 3u);
}

TEST_F(ListedTargets, AreOnlyNotedByAListThatLogs) {
    add("logged", kDomains, "127.0.0.1\n", BlocklistAction::log);
    auto settings = forward_config();
    settings.log.access = path("access.log");
    start(settings);
    EXPECT_EQ(get("a", url("/one")).status, 200u);
    EXPECT_EQ(get("a", url("/one")).status, 200u) << "from the store";
    EXPECT_EQ(refused(), 0u);
    EXPECT_EQ(status("a").work.blocklist_logged, 2u);
    EXPECT_EQ(logged(path("logged") + ", line 1").size(), 1u) << "one line in ten seconds";
    kill("a");
    std::ifstream in(path("access.log"));
    std::string line;
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(std::getline(in, line));
        EXPECT_EQ(json::parse(line)["blocklist"], path("logged") + ", line 1") << line;
    }
}

TEST_F(ListedTargets, AreInTheAccessLogWithListAndLine) {
    add_usual_lists();
    auto settings = forward_config();
    settings.log.access = path("access.log");
    start(settings);
    get("a", "http://listed.test/x");
    get("a", url("/good"));
    kill("a");
    std::ifstream in(path("access.log"));
    std::string first, second;
    ASSERT_TRUE(std::getline(in, first) && std::getline(in, second));
    const auto refusal = json::parse(first);
    EXPECT_EQ(refusal["status"], 403);
    EXPECT_EQ(refusal["outcome"], "refused");
    EXPECT_EQ(refusal["cache_status"], "a; detail=blocklist");
    EXPECT_EQ(refusal["blocklist"], path("domains") + ", line 2");
    EXPECT_FALSE(json::parse(second).contains("blocklist"));
}

TEST_F(ListedTargets, OfTheOperatorsOwnSitesAreServed) {
    add_usual_lists();
    auto settings = forward_config();
    settings.origins = {{"listed.test", {"127.0.0.1", origin.port()}}};
    start(settings);
    EXPECT_EQ(get("a", "http://listed.test/one").status, 200u);
    EXPECT_EQ(get("a", "http://www.listed.test/one").status, 403u) << "a forward target";
}

TEST_F(ListedTargets, AreRefusedAlthoughTheyAreStoredOnceAListNamesThem) {
    add("domains", kDomains, "other.test\n");
    run(forward_config());
    const auto scripted = origin.set([](Exchange& e) { e.answer(fresh(), "stored"); });
    auto connection = client();
    EXPECT_EQ(connection.get(url("/one")).status, 200u);
    write("domains", "other.test\n127.0.0.1\n");  // seen without a reload
    EXPECT_TRUE(eventually([&] { return connection.get(url("/one")).status == 403; }));
    EXPECT_TRUE(contains(connection.get(url("/one")).body, "line 2"));
    write("domains", "other.test\n");
    EXPECT_TRUE(eventually([&] { return connection.get(url("/one")).status == 200; }));
    EXPECT_TRUE(contains(connection.get(url("/one")).cache_status(), "hit"));
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(ListedTargets, StayListedWhileAListCannotBeRead) {
    add_usual_lists();
    run(forward_config());
    EXPECT_EQ(get("a", "http://listed.test/").status, 403u);
    std::filesystem::remove(path("domains"));
    EXPECT_TRUE(eventually([&] {
        return logged(
                   "blocklists not renewed, the former ones stay: "
                   "$.forward.blocklists[0].path: cannot read " +
                   path("domains"))
                   .size() == 1;
    }));
    const auto answer = reload();
    EXPECT_EQ(answer.status, 422u);
    EXPECT_TRUE(contains(answer.body, "put the list there")) << answer.body;
    EXPECT_EQ(get("a", "http://listed.test/").status, 403u);
    write("domains", "back.test\n");
    EXPECT_TRUE(eventually([&] { return get("a", "http://back.test/").status == 403; }));
    EXPECT_EQ(get("a", url("/good")).status, 200u);
}

TEST_F(ListedTargets, StayListedWhileTheirFileIsNoList) {
    add_usual_lists();
    run(forward_config());
    const auto fault = [&] {
        const auto page = json::parse(admin("a", "/api/v1/status").body)["blocklists"]["lists"];
        return page[0]["fault"].get<std::string>();
    };
    EXPECT_EQ(fault(), "");
    for (const auto* text : {"", "<html>not here</html>\n"}) {
        write("domains", text);
        EXPECT_TRUE(eventually([&] { return !fault().empty(); })) << text;
        EXPECT_EQ(get("a", "http://listed.test/").status, 403u) << text;
        EXPECT_TRUE(contains(admin("a", "/metrics").body,
                             "hearsay_blocklist_not_renewed{list=\"" + path("domains") + "\"} 1"));
        write("domains", "listed.test\n");
        EXPECT_TRUE(eventually([&] { return fault().empty(); }));
    }
    EXPECT_EQ(logged("blocklists not renewed, the former ones stay").size(), 2u);
}

TEST_F(ListedTargets, FollowTheSettingsOfAReload) {
    add("domains", kDomains, "listed.test\n");
    auto settings = forward_config();
    run(settings);
    EXPECT_EQ(get("a", url("/good")).status, 200u);
    write("more", "127.0.0.1\n");
    settings.forward.blocklists.push_back({path("more"), kDomains});
    write_config(settings);
    const auto answer = reload();
    EXPECT_EQ(answer.status, 200u) << answer.body;
    EXPECT_EQ(get("a", url("/good")).status, 403u);
    EXPECT_EQ(logged("; blocklists were read again").size(), 1u);
    settings.forward.blocklists.clear();
    write_config(settings);
    EXPECT_EQ(reload().status, 200u);
    EXPECT_EQ(get("a", url("/good")).status, 200u);
    EXPECT_EQ(reload().status, 200u);
    EXPECT_EQ(logged("; blocklists were read again").size(), 1u) << "there are none to read";
}

TEST_F(ListedTargets, ChangeUnderLoadWithoutLosingARequest) {
    const auto scripted = origin.set([](Exchange& e) { e.answer(fresh(), "x"); });
    add("domains", kDomains, "listed.test\n");
    run(forward_config());
    std::atomic<bool> stop{false};
    std::atomic<unsigned> bad{0}, answers{0};
    std::thread asks([&] {
        auto connection = client();
        while (!stop) {
            bad += connection.get(url("/one")).status != 200 ? 1 : 0;
            bad += connection.get("http://listed.test/").status != 403 ? 1 : 0;
            ++answers;
        }
    });
    std::string text = "listed.test\n";
    for (int i = 0; i < 20'000; ++i) text += "host" + std::to_string(i) + ".test\n";
    write("domains", text);
    EXPECT_EQ(reload().status, 200u);
    EXPECT_TRUE(eventually([&] { return status("a").blocklists.numbers.entries == 20'001; }));
    const auto before = answers.load();
    EXPECT_TRUE(eventually([&] { return answers > before + 20; }));
    stop = true;
    asks.join();
    EXPECT_EQ(bad, 0u);
}

/// A peer asks for content that its own client may have.
TEST_F(ListedTargets, AreGivenToAPeer) {
    const auto scripted = origin.set([](Exchange& e) { e.answer(fresh(), "x"); });
    add("domains", kDomains, "listed.test\n");
    for (const auto* node : {"a", "b"}) {
        auto settings = config(node, 2);
        const auto plain = forward_config(node);
        settings.origins.clear();
        settings.forward = plain.forward;
        if (std::string_view(node) == "b") settings.forward.blocklists.clear();
        if (std::string_view(node) == "a")
            start(settings, path("unused.json"));
        else
            start(settings);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", url("/one")).status, 200u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    write("domains", "127.0.0.1\n");
    ASSERT_TRUE(eventually([&] { return get("a", url("/one")).status == 403; }));
    EXPECT_EQ(get("b", url("/one")).status, 200u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(ListedTargets, AreExplained) {
    add("logged", kDomains, "logged.test\n", BlocklistAction::log);
    add_usual_lists();
    start(forward_config());
    const auto explain = [&](const std::string& encoded) {
        return json::parse(admin("a", "/api/v1/explain?url=" + encoded).body);
    };
    const auto refusal = explain("http%3A%2F%2Fwww.listed.test%2F");
    EXPECT_EQ(refusal["blocklist"]["entry"], path("domains") + ", line 2");
    EXPECT_EQ(refusal["blocklist"]["action"], "refuse");
    EXPECT_EQ(explain("http%3A%2F%2Flogged.test%2F")["blocklist"]["action"], "log");
    EXPECT_FALSE(explain("http%3A%2F%2Flogged.test%2F").contains("refused"));
    EXPECT_TRUE(explain("http%3A%2F%2Fother.test%2F")["blocklist"].is_null());
    EXPECT_EQ(status("a").work.blocklist_queries, 0u) << "nothing is counted";
}

TEST_F(ListedTargets, AreCountedAgainstTheFormula) {
    add("domains", kDomains, "listed.test\nbad line\n");
    start(forward_config());
    auto connection = client();
    for (int i = 0; i < 10; ++i) connection.get("http://listed.test/");
    EXPECT_EQ(connection.get(url("/one")).status, 200u);
    const auto page = json::parse(admin("a", "/api/v1/status").body)["blocklists"];
    EXPECT_EQ(page["queries"], 11) << "an address has no name above it";
    EXPECT_EQ(page["confirmed"], 10);
    EXPECT_EQ(page["entries"], 1);
    EXPECT_GT(page["memory_bytes"], 0);
    EXPECT_EQ(page["lists"][0]["path"], path("domains"));
    EXPECT_EQ(page["lists"][0]["format"], "domains");
    EXPECT_EQ(page["lists"][0]["action"], "refuse");
    EXPECT_EQ(page["lists"][0]["malformed_lines"], 1);
    const auto metrics = admin("a", "/metrics").body;
    EXPECT_TRUE(contains(metrics, "hearsay_blocklist_positives_total{result=\"confirmed\"} 10"));
    EXPECT_TRUE(contains(metrics, "hearsay_blocklist_malformed_lines{list=\"" + path("domains")));
    EXPECT_TRUE(contains(metrics, "hearsay_request_refusals_total{reason=\"blocklist\"} 10"));
}

TEST_F(ListedTargets, PreventAStartIfTheirListIsMissing) {
    forward.blocklists.push_back({path("missing"), kHosts});
    try {
        start(forward_config());
        FAIL() << "it starts";
    } catch (const std::exception& error) {
        EXPECT_TRUE(contains(error.what(), "put the list there")) << error.what();
    }
}

}  // namespace blocklists_test
}  // namespace proxy::test
