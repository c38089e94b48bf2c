#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "proxy/config/config_json.hpp"
#include "proxy/config/parse_config.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace reload_test {

using namespace std::chrono_literals;
using nlohmann::json;

/// Nodes that were started from a file each, which a test may change.
class Reload : public NodesTest {
protected:
    ~Reload() override {
        for (const auto* node : {"a", "b", "c"}) kill(node);
    }

    std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
    std::filesystem::path file(const std::string& node) const { return path(node + ".json"); }

    static json as_json(const Config& config) {
        auto result = json::parse(effective_config(config));
        if (config.cluster) result["cluster"]["keys"] = config.cluster->keys;
        if (config.admin && !config.admin->token.empty())
            result["admin"]["token"] = config.admin->token;
        return result;
    }
    void write(const std::string& node, const std::string& text) const {
        std::ofstream(file(node), std::ios::trunc) << text;
    }
    void write(const Config& config) const { write(config.node, as_json(config).dump(2)); }
    Node& run(const Config& config) {
        write(config);
        return start(config, file(config.node));
    }

    static Answer post(const std::string& node, std::string_view fields = {}) {
        return admin_client(node).ask("POST", "/api/v1/reload", fields, "");
    }
    /// Reloads `config`, which must work, and gives the settings that changed.
    static std::vector<std::string> changed_by_reload(const std::string& node) {
        const auto answer = post(node);
        EXPECT_EQ(answer.status, 200u) << answer.body;
        if (answer.status != 200) return {};
        return json::parse(answer.body).at("changed").get<std::vector<std::string>>();
    }
    std::vector<std::string> reload(const Config& config) const {
        write(config);
        return changed_by_reload(config.node);
    }
    /// Reloads a file that must be refused, and gives path and message of each error.
    static std::vector<ConfigError> errors_of_reload(const std::string& node) {
        const auto answer = post(node);
        EXPECT_EQ(answer.status, 422u) << answer.body;
        std::vector<ConfigError> errors;
        if (answer.status != 422) return errors;
        const auto shown = json::parse(answer.body);
        for (const auto& error : shown.at("errors"))
            errors.push_back({error.at("path"), error.at("message")});
        return errors;
    }
    std::vector<ConfigError> refusal(const Config& config) const {
        write(config);
        return errors_of_reload(config.node);
    }

    static std::vector<std::string> paths(std::initializer_list<const char*> names) {
        return {names.begin(), names.end()};
    }
    static std::vector<std::string> lines(const std::filesystem::path& from) {
        std::ifstream in(from);
        std::vector<std::string> result;
        for (std::string line; std::getline(in, line);) result.push_back(line);
        return result;
    }

private:
    const TemporaryDirectory folder_;
};

TEST_F(Reload, KeepsTheStateOfServersThatStayInAGroup) {
    ScriptedOrigin other([](Exchange& e) { e.answer("Cache-Control: no-store\r\n", "other"); });
    ScriptedOrigin dead([](Exchange&) {});
    dead.die();
    UpstreamGroupConfig group;
    group.name = "*";
    for (const auto port : {dead.port(), origin.port(), other.port()}) {
        auto& server = group.servers.emplace_back();
        server.place = {"127.0.0.1", port};
        server.mark = mark_of_server(server.place.text());
    }
    auto settings = config("a");
    const auto use = [&] {
        settings.origins.front().group = std::make_shared<const UpstreamGroupConfig>(group);
    };
    use();
    run(settings);
    ASSERT_TRUE(eventually([&] {
        get("a", "/", "Cache-Control: no-store\r\n");
        return status("a").upstreams[0].state == "down";
    }));
    const auto requests = status("a").upstreams[1].requests;
    group.servers.pop_back();
    group.servers[1].weight = 7;
    use();
    EXPECT_EQ(reload(settings), paths({"$.origins"}));
    const auto now = status("a").upstreams;
    ASSERT_EQ(now.size(), 2u);
    EXPECT_EQ(now[0].state, "down");
    EXPECT_EQ(now[1].requests, requests);
    EXPECT_EQ(now[1].weight, 7u);
    const auto before = other.requests();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(get("a", "/" + std::to_string(i)).status, 200u);
    EXPECT_EQ(other.requests(), before);
}

TEST_F(Reload, TakesNewOriginsUnderLoadWithoutLosingARequest) {
    ScriptedOrigin other([](Exchange& e) { e.answer("Cache-Control: no-store\r\n", "new"); });
    const auto scripted =
        origin.set([](Exchange& e) { e.answer("Cache-Control: no-store\r\n", "old"); });
    auto old_config = config("a");
    old_config.workers = 2;
    auto new_config = old_config;
    new_config.origins.front().server = {"127.0.0.1", other.port()};
    run(old_config);

    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> answers{0}, failures{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i)
        clients.emplace_back([&, i] {
            auto connection = client();
            for (int n = 0; !stop; ++n) {
                const auto answer =
                    connection.get('/' + std::to_string(i) + '/' + std::to_string(n));
                if (answer.status != 200 || !answer.complete ||
                    (answer.body != "old" && answer.body != "new")) {
                    ++failures;
                    return;
                }
                ++answers;
            }
        });
    auto held = client();
    EXPECT_EQ(held.get("/held").body, "old");
    for (int i = 0; i < 10; ++i) {
        const auto before = answers.load();
        EXPECT_EQ(reload(i % 2 == 0 ? new_config : old_config), paths({"$.origins"}));
        EXPECT_TRUE(eventually([&] { return failures > 0 || answers > before + 20; }));
        const auto* expected = i % 2 == 0 ? "new" : "old";
        EXPECT_TRUE(eventually([&] { return held.get("/held").body == expected; }));
    }
    stop = true;
    for (auto& each : clients) each.join();
    EXPECT_EQ(failures, 0u);
    EXPECT_EQ(status("a").config.reloads, 10u);
    EXPECT_EQ(status("a").config.generation, 11u);
}

TEST_F(Reload, LeavesARequestAtHandItsRules) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh("Set-Cookie: a=b\r\n"), "x");
    });
    auto settings = config("a");
    settings.cache.rules.store_set_cookie = true;
    run(settings);
    auto waiting = client();
    waiting.begin("GET", "/before");
    ASSERT_TRUE(gate.wait_for(1));
    settings.cache.rules.store_set_cookie = false;
    EXPECT_EQ(reload(settings), paths({"$.cache.store_set_cookie"}));
    auto later = client();
    later.begin("GET", "/after");
    ASSERT_TRUE(gate.wait_for(2));
    gate.open();
    EXPECT_TRUE(contains(waiting.read().cache_status(), "stored"));
    EXPECT_FALSE(contains(later.read().cache_status(), "stored"));
}

TEST_F(Reload, ChangesHowManyVariantsOfAUrlAreStored) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh("Vary: Accept-Language\r\n"), e.field("Accept-Language"));
    });
    const auto hits = [&](int languages) {
        int found = 0;
        for (int i = 0; i < languages; ++i) {
            const auto language = "l" + std::to_string(i);
            const auto answer = get("a", "/page", "Accept-Language: " + language + "\r\n");
            EXPECT_EQ(answer.body, language);
            found += contains(answer.cache_status(), "; hit") ? 1 : 0;
        }
        return found;
    };
    auto settings = config("a");
    settings.cache.variants = 4;
    run(settings);
    hits(6);
    EXPECT_LE(hits(6), 4);
    settings.cache.variants = 6;
    EXPECT_EQ(reload(settings), paths({"$.cache.variants"}));
    for (int i = 0; i < 2; ++i) hits(6);
    EXPECT_EQ(hits(6), 6);
}

/// A stored response is given as it would be fetched and stored now.
class StoredBefore : public Reload {
protected:
    /// In front of the origin for `own.test`, and a forward proxy.
    Config both_ways() const {
        auto settings = config("a");
        settings.origins = {{"own.test", {"127.0.0.1", origin.port()}},
                            {"other.test", {"127.0.0.1", origin.port()}}};
        settings.forward.enabled = true;
        settings.forward.private_destinations = Destinations::allow;
        return settings;
    }
    std::string target(std::string_view path) const { return url(path); }
};

TEST_F(StoredBefore, IsRefusedToClientsThatMayNotFetchIt) {
    auto settings = both_ways();
    run(settings);
    auto own = client();
    own.host = "own.test";
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(get("a", target("/one")).status, 200u);
        EXPECT_EQ(own.get("/one").status, 200u);
    }
    ASSERT_EQ(origin.requests(), 2u);
    settings.forward.clients = {"10.0.0.0/8"};
    reload(settings);
    EXPECT_EQ(get("a", target("/one")).status, 403u);
    settings.forward.enabled = false;
    reload(settings);
    for (const auto* method : {"GET", "HEAD"})
        EXPECT_EQ(client().ask(method, target("/one")).status, 403u) << method;
    EXPECT_EQ(own.get("/one").status, 200u);
    settings.origins.erase(settings.origins.begin());
    reload(settings);
    EXPECT_EQ(own.get("/one").status, 404u);
    EXPECT_EQ(get("a", "http://own.test/one").status, 403u);
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(StoredBefore, EndsWithTheRuleThatLetItBeStored) {
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/cookie") return e.answer(fresh("Set-Cookie: a=b\r\n"), "x");
        e.answer("Cache-Control: private\r\nCDN-Cache-Control: max-age=1000\r\n", "y");
    });
    auto settings = both_ways();
    settings.origins.push_back({"127.0.0.1", {"127.0.0.1", origin.port()}});
    settings.cache.rules.store_set_cookie = true;
    run(settings);
    for (const auto* path : {"/cookie", "/targeted"})
        for (int again = 0; again < 2; ++again) EXPECT_EQ(get("a", target(path)).status, 200u);
    ASSERT_EQ(origin.requests(), 2u);
    settings.cache.rules.store_set_cookie = false;
    reload(settings);
    get("a", target("/cookie"));
    EXPECT_EQ(origin.requests(), 3u);
    settings.origins.pop_back();  // it is a foreign site from now on
    reload(settings);
    get("a", target("/targeted"));
    EXPECT_EQ(origin.requests(), 4u);
    EXPECT_EQ(status("a").cache.objects, 0u);
}

TEST_F(Reload, ChangesNothingWhenTheFileIsBadAndSaysWhy) {
    auto settings = config("a");
    run(settings);
    const auto in_effect = admin("a", "/api/v1/config").body;
    const auto good = as_json(settings).dump(2);
    const std::vector<std::pair<std::string, std::string>> bad{
        {"", "$"},
        {good.substr(0, good.size() / 2), "$"},
        {good + "}", "$"},
        {"[]", "$"},
        {std::string("\0\xff", 2), "$"},
        {std::string(kMaxConfigBytes + 1, ' '), ""},
        {R"({"node": "a"})", "$.listen"},
        {R"({"node": "a", "listen": "127.0.0.1:1", "origins": [], "cache": {"memry": 1}})",
         "$.cache.memry"},
        {R"({"node": "a", "listen": "127.0.0.1:1", "log": {"access": "${HEARSAY_NOT_SET}"}})",
         "$.log.access"}};
    for (const auto& [text, path] : bad) {
        write("a", text);
        const auto errors = errors_of_reload("a");
        ASSERT_FALSE(errors.empty()) << text.substr(0, 100);
        EXPECT_TRUE(std::any_of(errors.begin(), errors.end(), [&, &where = path](const auto& each) {
            return each.path == where && !each.message.empty();
        })) << describe(errors);
    }
    std::filesystem::remove(file("a"));
    EXPECT_TRUE(contains(errors_of_reload("a").at(0).message, "No such file"));
    std::filesystem::create_directory(file("a"));
    EXPECT_TRUE(contains(errors_of_reload("a").at(0).message, "not a file"));
    std::filesystem::remove(file("a"));
    settings.log.access = "/nonexistent/folder/access.log";
    settings.origins.front().server = {"127.0.0.1", 1};
    const auto errors = refusal(settings);
    EXPECT_EQ(errors.at(0).path, "$.log.access");
    EXPECT_TRUE(contains(errors.at(0).message, "there is no folder")) << errors.at(0).message;

    EXPECT_EQ(admin("a", "/api/v1/config").body, in_effect);
    EXPECT_EQ(get("a", "/one").status, 200u);
    const auto refused = status("a").config;
    EXPECT_EQ(refused.failures, bad.size() + 3);
    EXPECT_EQ(refused.generation, 1u);
    EXPECT_TRUE(contains(refused.last_error, "$.log.access: "));
    auto metrics = admin("a", "/metrics").body;
    EXPECT_TRUE(contains(metrics, "hearsay_config_last_reload_successful 0\n"));
    EXPECT_TRUE(contains(metrics, "hearsay_config_reloads_total{result=\"refused\"} 12\n"));

    write("a", good);
    EXPECT_EQ(changed_by_reload("a"), paths({}));
    metrics = admin("a", "/metrics").body;
    EXPECT_TRUE(contains(metrics, "hearsay_config_last_reload_successful 1\n"));
    const auto shown = json::parse(admin("a", "/api/v1/status").body).at("config");
    EXPECT_EQ(shown.at("generation"), 1);
    EXPECT_EQ(shown.at("last_error"), "");
    EXPECT_TRUE(contains(shown.at("loaded_at").get<std::string>(), "Z"));
}

TEST_F(Reload, RefusesAChangeThatNeedsARestartAsAWhole) {
    const auto settings = config("a", 2);
    run(settings);
    auto next = settings;
    next.origins.front().server = {"127.0.0.1", 1};  // would do by itself
    next.node = "z";
    next.listen.port = 1;
    next.workers = 3;
    next.admin.reset();
    next.cluster->listen.port = 2;
    next.cluster->keys = {std::string(40, 'x')};
    write("a", as_json(next).dump());
    auto errors = errors_of_reload("a");
    std::vector<std::string> named;
    for (const auto& error : errors) {
        named.push_back(error.path);
        EXPECT_TRUE(contains(error.message, "restart")) << error.message;
    }
    EXPECT_EQ(named, paths({"$.node", "$.listen", "$.workers", "$.admin", "$.cluster.listen",
                            "$.cluster.keys"}));
    next = settings;
    next.cluster.reset();
    EXPECT_EQ(refusal(next).at(0).path, "$.cluster");
    EXPECT_EQ(get("a", "/one").body, "body of /one");
    EXPECT_EQ(json::parse(admin("a", "/api/v1/config").body).at("workers"), 1);
}

TEST_F(Reload, NeedsAFileToReadAgain) {
    start(config("a"));
    EXPECT_TRUE(contains(errors_of_reload("a").at(0).message, "not started from a file"));
}

TEST_F(Reload, SaysThatItsFileWasReplacedWhereItComesFrom) {
    const auto settings = config("a");
    write(settings);
    const int held = ::open(file("a").c_str(), O_RDONLY);  // leads to the file as a mount does
    start(settings, "/proc/self/fd/" + std::to_string(held));
    EXPECT_EQ(changed_by_reload("a"), paths({}));
    auto next = settings;
    next.limits.request_line = 8192;
    write(next);  // in place
    EXPECT_EQ(changed_by_reload("a"), paths({"$.limits.request_line"}));
    std::ofstream(path("edited")) << as_json(settings).dump();
    std::filesystem::rename(path("edited"), file("a"));
    const auto errors = errors_of_reload("a");
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(contains(errors[0].message, "mount its folder")) << errors[0].message;
    ::close(held);
}

TEST_F(Reload, IsNotDoneOnAWebPagesWordNorByGet) {
    run(config("a"));
    EXPECT_EQ(post("a", "Origin: http://evil.test\r\n").status, 403u);
    const auto answer = admin("a", "/api/v1/reload");
    EXPECT_EQ(answer.status, 405u);
    EXPECT_EQ(answer.field("Allow"), "POST");
    EXPECT_EQ(status("a").config.reloads, 0u);
}

TEST_F(Reload, IsRefusedWhileTheNodeDrains) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh(), "late");
    });
    auto& node = run(config("a"));
    auto waiting = client();
    waiting.begin("GET", "/one");
    ASSERT_TRUE(gate.wait_for(1));
    node.drain();
    EXPECT_TRUE(eventually([&] { return status("a").draining; }));
    const auto refused = post("a");
    EXPECT_EQ(refused.status, 409u);
    EXPECT_THAT(refused.body, ::testing::HasSubstr("this node is draining"));
    gate.open();
    EXPECT_EQ(waiting.read().body, "late");
}

TEST_F(Reload, LooksUpTheEnvironmentAnew) {
    ::setenv("HEARSAY_TEST_ORIGIN", "127.0.0.1:1", 1);
    const auto settings = config("a");
    auto text = as_json(settings);
    text["origins"][0]["url"] = "http://${HEARSAY_TEST_ORIGIN}";
    write("a", text.dump());
    start(settings, file("a"));
    EXPECT_EQ(changed_by_reload("a"), paths({"$.origins"}));
    ::setenv("HEARSAY_TEST_ORIGIN", origin_authority().c_str(), 1);
    EXPECT_EQ(changed_by_reload("a"), paths({"$.origins"}));
    EXPECT_TRUE(eventually([&] { return get("a", "/one").status == 200u; }));
    ::unsetenv("HEARSAY_TEST_ORIGIN");
}

TEST_F(Reload, NamesOnlyChangedSettings) {
    json text = as_json(config("a"));
    text["cache"].erase("slice_from");
    text["limits"].erase("connections_per_address");
    write("a", text.dump());
    auto settings = parse_config(text.dump()).config.value();
    start(settings, file("a"));
    text["cache"]["memory"] = "32MiB";
    text["limits"]["connections"] = 500;
    write("a", text.dump());
    EXPECT_EQ(changed_by_reload("a"), paths({"$.cache.memory", "$.limits.connections"}));
}

TEST_F(Reload, DoesOneAfterTheOther) {
    auto settings = config("a");
    run(settings);
    std::vector<std::thread> operators;
    std::atomic<unsigned> applied{0};
    for (int i = 0; i < 8; ++i)
        operators.emplace_back([&] {
            for (int n = 0; n < 5; ++n) applied += post("a").status == 200u;
        });
    for (auto& each : operators) each.join();
    EXPECT_EQ(applied, 40u);
    EXPECT_EQ(status("a").config.reloads, 40u);
    EXPECT_EQ(status("a").config.generation, 1u);  // nothing changed
    settings.limits.request_line = 8192;
    EXPECT_EQ(reload(settings), paths({"$.limits.request_line"}));
    EXPECT_EQ(status("a").config.generation, 2u);
}

TEST_F(Reload, TakesOtherLimitsOnConnectionsThatAreOpen) {
    auto settings = config("a");
    run(settings);
    auto open = client(), idle = client();
    const auto large = "X-Large: " + std::string(4000, 'x') + "\r\n";
    EXPECT_EQ(open.get("/one", large).status, 200u);
    EXPECT_EQ(idle.get("/one").status, 200u);
    settings.limits.head = 2048;
    settings.limits.request_line = 1024;
    settings.limits.connections = 2;
    EXPECT_EQ(reload(settings),
              paths({"$.limits.request_line", "$.limits.head", "$.limits.connections",
                     "$.limits.connections_per_address"}));
    EXPECT_EQ(open.get("/one", large).status, 431u);
    settings.limits = {};
    settings.timeouts.keep_alive = 50ms;
    reload(settings);
    EXPECT_TRUE(eventually([&] { return client().get("/one", large).status == 200u; }));
    EXPECT_EQ(idle.get("/one").status, 200u);
    EXPECT_TRUE(idle.at_end());  // by the new timeout
}

TEST_F(Reload, EvictsWhenTheMemoryShrinksAndKeepsMoreWhenItGrows) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh(), std::string(100'000, 'x')); });
    auto settings = config("a");
    run(settings);
    auto connection = client();
    for (int i = 0; i < 300; ++i) ASSERT_EQ(connection.get('/' + std::to_string(i)).status, 200u);
    ASSERT_GT(status("a").cache.memory_bytes, 30'000'000u);
    settings.cache.memory = 2 << 20;
    EXPECT_EQ(reload(settings), paths({"$.cache.memory", "$.cache.slice_from"}));
    EXPECT_TRUE(eventually([&] {
        const auto cache = status("a").cache;
        return cache.memory_bytes <= 2u << 20 && cache.objects == status("a").summary.objects;
    }));
    EXPECT_GT(status("a").cache.objects, 5u);  // not simply all
    for (int i = 0; i < 50; ++i) ASSERT_EQ(connection.get('/' + std::to_string(i)).status, 200u);
    EXPECT_LE(status("a").cache.memory_bytes, 2u << 20);
    settings.cache.memory = 64 << 20;
    reload(settings);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(connection.get('/' + std::to_string(i)).status, 200u);
    EXPECT_GE(status("a").cache.objects, 95u);
}

TEST_F(Reload, WritesTheAccessLogElsewhereAndOtherwise) {
    auto settings = config("a");
    run(settings);
    auto connection = client();
    std::uint64_t asked = 0;
    const auto get = [&](const std::string& target) {  // and its line is written, or is not to be
        connection.get(target);
        ++asked;
        EXPECT_TRUE(eventually([&] { return status("a").work.total() == asked; }));
    };
    get("/unseen");
    settings.log.access = path("one.log").string();
    EXPECT_EQ(reload(settings), paths({"$.log.access"}));
    get("/1");
    settings.log.format = AccessFormat::combined;
    EXPECT_EQ(reload(settings), paths({"$.log.format"}));
    get("/2");
    settings.log.access = path("two.log").string();
    reload(settings);
    get("/3");
    ASSERT_TRUE(eventually([&] { return lines(path("two.log")).size() == 1; }));
    settings.log.access = "off";
    reload(settings);
    get("/4");
    ASSERT_EQ(lines(path("one.log")).size(), 2u);
    EXPECT_TRUE(contains(lines(path("one.log"))[0], "\"url\":\"http://origin.test/1\""));
    EXPECT_TRUE(contains(lines(path("one.log"))[1], "\"GET http://origin.test/2 HTTP/1.1\" 200"));
    EXPECT_TRUE(contains(lines(path("two.log"))[0], "/3 "));
    kill("a");
    EXPECT_EQ(lines(path("two.log")).size(), 1u);
}

TEST_F(Reload, DoesNotWaitForTheReaderOfTheAccessLog) {
    auto settings = config("a");
    run(settings);
    const auto fifo = path("log.fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    settings.log.access = fifo;
    EXPECT_EQ(reload(settings), paths({"$.log.access"}));
    for (int i = 0; i < 300; ++i) EXPECT_EQ(get("a", "/one").status, 200u);
    EXPECT_EQ(admin("a", "/healthz").status, 200u) << "the control thread turns";
    settings.log.access = path("access.log");
    EXPECT_EQ(reload(settings), paths({"$.log.access"}));
    kill("a");  // ends, whether anybody has read the FIFO or not
    settings.log.access = fifo;
    run(settings);
    EXPECT_EQ(get("a", "/one").status, 200u);
}

TEST_F(Reload, AddsAPeerWithoutARestart) {
    run(config("a", 2));
    run(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    store("a", "/early");
    const auto before = status("a").cluster;
    run(config("c", 3));
    EXPECT_EQ(reload(config("a", 3)), paths({"$.cluster.peers"}));
    EXPECT_EQ(reload(config("b", 3)), paths({"$.cluster.peers"}));
    for (const auto* node : {"a", "b", "c"})
        EXPECT_TRUE(eventually([&] {
            return status(node).cluster.peers.size() == 2 && in_sync(node);
        })) << node;
    EXPECT_GE(status("a").cluster.bytes_sent, before.bytes_sent);  // counted on

    // The earlier content of a is known to all.
    EXPECT_EQ(status("a").summary.objects, 1u);
    EXPECT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_TRUE(contains(get("c", "/early").cache_status(), "detail=PEER_a"));
    store("c", "/late");
    EXPECT_TRUE(contains(get("b", "/late").cache_status(), "detail=PEER_c"));
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(seen("b", "c").hits, 1u);
}

TEST_F(Reload, ForgetsAPeerThatIsListedNoMore) {
    for (const auto* node : {"a", "b", "c"}) run(config(node, 3));
    for (const auto* node : {"a", "b", "c"}) ASSERT_TRUE(eventually([&] { return in_sync(node); }));
    store("c", "/one");
    EXPECT_EQ(get("b", "/one").status, 200u);
    EXPECT_EQ(seen("b", "c").asked, 1u);
    store("c", "/two");
    auto settings = config("b", 3);
    std::erase_if(settings.cluster->peers, [](const auto& peer) { return peer.node == "a"; });
    reload(settings);
    EXPECT_TRUE(eventually([&] { return status("b").cluster.peers.size() == 1 && in_sync("b"); }));
    EXPECT_EQ(seen("b", "c").asked, 1u);  // its record came along, to another place
    EXPECT_TRUE(eventually([&] { return announced("c", 2) || in_sync("b"); }));
    EXPECT_TRUE(contains(get("b", "/two").cache_status(), "detail=PEER_c"));
    EXPECT_EQ(seen("b", "c").asked, 2u);
}

TEST_F(Reload, TakesPeersFromThePortOfTheAdminAndSaysTheDifference) {
    for (const auto* node : {"a", "b"}) run(config(node, 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    run(config("c", 3));
    const auto order = [](const std::string& node, const std::string& body) {
        return admin_client(node).ask("POST", "/api/v1/peers", "Content-Type: application/json\r\n",
                                      body);
    };
    const auto entry = [](const std::string& node) {
        return json{
            {"node", node}, {"http", address(node) + ":3128"}, {"link", address(node) + ":3129"}};
    };
    const auto add = json{{"add", json::array({entry("c")})}}.dump();
    for (const auto* node : {"a", "b"}) {
        const auto answer = order(node, add);
        ASSERT_EQ(answer.status, 200u) << answer.body;
        const auto told = json::parse(answer.body);
        EXPECT_EQ(told["added"], json::array({"c"}));
        EXPECT_EQ(told["before"].size() + 1, told["after"].size());
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b") && in_sync("c"); }));
    store("c", "/of-c");
    EXPECT_EQ(get("a", "/of-c").status, 200u);
    EXPECT_EQ(count("a", Outcome::peer_hit), 1u);

    EXPECT_EQ(order("a", R"({"remove": ["c"]})").status, 200u);
    EXPECT_TRUE(eventually([&] { return status("a").cluster.peers.size() == 1; }));
    EXPECT_TRUE(in_sync("a"));
    const auto left = status("a").cluster;
    EXPECT_EQ(left.peers_gone, 1u);
    EXPECT_EQ(left.gone.hits, 1u);
    EXPECT_NE(admin("a", "/metrics").body.find("peer=\"(gone)\""), std::string::npos);

    EXPECT_EQ(order("a", R"({"remove": ["nobody"]})").status, 422u);
    EXPECT_EQ(order("a", "no JSON").status, 422u);
    EXPECT_EQ(admin_client("a").ask("POST", "/api/v1/peers", "", add).status, 415u);
    const auto put = admin_client("a").ask("PUT", "/api/v1/peers", "", "");
    EXPECT_EQ(put.status, 405u);
    EXPECT_EQ(put.field("Allow"), "GET, HEAD, POST");
    EXPECT_EQ(status("a").cluster.peers.size(), 1u);
    EXPECT_EQ(changed_by_reload("a"), paths({})) << "the file says what is in effect";
}

TEST_F(Reload, OfPeersAloneLeavesTheOthersTheirLinks) {
    for (const auto* node : {"a", "b"}) run(config(node, 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    const auto epoch = seen("b", "a").epoch;
    EXPECT_EQ(reload(config("a", 3)), paths({"$.cluster.peers"}));
    EXPECT_EQ(status("a").cluster.peers.size(), 2u);
    EXPECT_EQ(seen("a", "b").state, protocol::PeerState::in_sync);
    EXPECT_EQ(seen("b", "a").epoch, epoch);
}

TEST_F(Reload, KeepsAnsweringWhileLinksAreMadeAnew) {
    for (const auto* node : {"a", "b"}) run(config(node, 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> answers{0}, failures{0};
    std::vector<std::thread> clients;
    for (const auto* node : {"a", "b", "a", "b"})
        clients.emplace_back([&, node] {
            auto connection = client(node);
            for (int n = 0; !stop; ++n) {
                const auto answer = connection.get('/' + std::to_string(n % 500));
                if (answer.status == 200 && answer.complete)
                    ++answers;
                else
                    ++failures;
                if (failures > 0) return;
            }
        });
    auto settings = config("a", 2);
    for (int i = 0; i < 10; ++i) {
        const auto before = answers.load();
        settings.cluster->heartbeat = i % 2 == 0 ? 60ms : 50ms;
        EXPECT_EQ(reload(settings), paths({"$.cluster.heartbeat"}));
        EXPECT_TRUE(eventually([&] { return failures > 0 || answers > before + 100; }));
    }
    stop = true;
    for (auto& each : clients) each.join();
    EXPECT_EQ(failures, 0u);
    EXPECT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_TRUE(eventually([&] {
        const auto a = status("a");
        return a.summary.objects == a.cache.objects && announced("a", a.cache.objects);
    }));
}

TEST_F(Reload, MakesLinksAnewAtEverySpacing) {
    auto& a = run(config("a", 2));
    run(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    for (auto spacing = 50ms; spacing >= 0ms; spacing -= 1ms) {
        for (const auto heartbeat : {60ms, 50ms}) {
            auto settings = config("a", 2);
            settings.cluster->heartbeat = heartbeat;
            write(settings);
            a.reload();  // as HUP does
            std::this_thread::sleep_for(spacing);
        }
    }
    EXPECT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_GT(status("a").config.reloads, 50u) << "reloads in a row may find the same file";
    EXPECT_EQ(changed_by_reload("a"), paths({}));
}

TEST_F(Reload, KeepsTheInvalidationsThatAPeerHasNotConfirmed) {
    for (const auto* node : {"a", "b"}) run(config(node, 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    ASSERT_EQ(client("a").ask("POST", "/first", "", "x").status, 200u);
    ASSERT_TRUE(eventually([&] { return seen("a", "b").invalidations.confirmed == 1; }));
    kill("b");
    ASSERT_TRUE(eventually([&] { return !in_sync("a"); }));
    ASSERT_EQ(client("a").ask("POST", "/second", "", "x").status, 200u);
    ASSERT_TRUE(eventually([&] { return seen("a", "b").invalidations.pending == 1; }));
    auto settings = config("a", 2);
    settings.cluster->heartbeat = 60ms;
    EXPECT_EQ(reload(settings), paths({"$.cluster.heartbeat"}));
    EXPECT_EQ(seen("a", "b").invalidations.pending, 1u);
    run(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_TRUE(eventually([&] { return seen("a", "b").invalidations.pending == 0; }));
    EXPECT_EQ(seen("a", "b").invalidations.confirmed, 2u);  // the numbers go on

    settings.cluster->heartbeat = 50ms;  // b goes on, and remembers what it has applied
    reload(settings);
    ASSERT_EQ(client("a").ask("POST", "/third", "", "x").status, 200u);
    EXPECT_TRUE(eventually([&] { return seen("b", "a").invalidations_received >= 2; }));
    EXPECT_TRUE(eventually([&] { return seen("a", "b").invalidations.confirmed == 3; }));
}

TEST_F(Reload, PutsANewKeyInFrontOfTheOldOne) {
    const std::string new_key(40, 'n');
    for (const auto* node : {"a", "b"}) run(config(node, 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    store("a", "/one");
    for (const auto* node : {"a", "b"}) {  // [old] -> [new, old], one node after the other
        auto settings = config(node, 2);
        settings.cluster->keys.insert(settings.cluster->keys.begin(), new_key);
        EXPECT_EQ(reload(settings), paths({"$.cluster.keys"}));
        EXPECT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); })) << node;
    }
    EXPECT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_TRUE(contains(get("b", "/one").cache_status(), "detail=PEER_a"));
    EXPECT_TRUE(contains(get("a", "/one").cache_status(), "a; hit"));  // nothing was orphaned

    auto settings = config("a", 2);
    settings.cluster->keys = {new_key};
    const auto errors = refusal(settings);
    EXPECT_EQ(errors.at(0).path, "$.cluster.keys");
    EXPECT_TRUE(contains(errors.at(0).message, "the last key gives")) << errors.at(0).message;
    EXPECT_TRUE(in_sync("a"));
    EXPECT_FALSE(contains(admin("a", "/api/v1/config").body, new_key));
}

TEST_F(Reload, ClosesDestinationsAlsoForConnectionsThatAreOpen) {
    auto settings = forward_config();
    run(settings);
    const auto url = "http://" + origin_authority();
    EXPECT_EQ(get("a", url + "/one").status, 200u);
    settings.forward.private_destinations = Destinations::listed;
    settings.forward.private_prefixes = {"10.0.0.0/8"};
    EXPECT_EQ(reload(settings), paths({"$.forward.private_destinations"}));
    EXPECT_EQ(get("a", url + "/two").status, 403u);
    EXPECT_EQ(origin.requests(), 1u);
    settings.forward.private_prefixes = {"127.0.0.0/8"};
    reload(settings);
    EXPECT_EQ(get("a", url + "/two").status, 200u);
}

TEST_F(Reload, ChangesAccessOnOpenConnections) {
    auto settings = config("a");
    run(settings);
    auto kept = client();
    EXPECT_EQ(kept.get("/one").status, 200u);
    settings.clients.deny = {"127.0.0.0/8"};
    EXPECT_EQ(reload(settings), paths({"$.clients.deny"}));
    EXPECT_EQ(kept.get("/one").status, 403u);
}

TEST_F(Reload, ChangesTheAdminTokenWithoutShowingIt) {
    auto settings = config("a");
    settings.admin->token = "the-first-token-0";
    run(settings);
    auto next = settings;
    next.admin->token = "the-second-token-";
    write(next);
    EXPECT_EQ(post("a").status, 401u);
    const auto answer = post("a", "Authorization: Bearer the-first-token-0\r\n");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(json::parse(answer.body).at("changed"), json::parse(R"(["$.admin.token"])"));
    EXPECT_EQ(post("a", "Authorization: Bearer the-first-token-0\r\n").status, 401u);
    const auto again = post("a", "Authorization: Bearer the-second-token-\r\n");
    EXPECT_EQ(again.status, 200u);
    EXPECT_FALSE(contains(again.body, "second"));
}

}  // namespace reload_test
}  // namespace proxy::test
