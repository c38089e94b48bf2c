#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include <unistd.h>

#include "proxy/config/config_json.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/telemetry/trace_context.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/log_capture.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {
namespace tracing_test {

using namespace std::chrono_literals;
using nlohmann::json;

const std::string kTrace = "0af7651916cd43dd8448eb211c80319c";
const std::string kParent = "b7ad6b7169203331";

std::string traceparent(std::string_view flags = "01") {
    return "traceparent: 00-" + kTrace + "-" + kParent + "-" + std::string(flags) + "\r\n";
}

/// A span as the collector got it.
struct Span {
    std::string node, trace, id, parent, name;
    int kind = 0;
    json whole;

    std::string text(std::string_view key) const {
        for (const auto& each : whole.at("attributes"))
            if (each.at("key") == key) {
                const auto& value = each.at("value");
                return value.contains("intValue") ? value.at("intValue").get<std::string>()
                                                  : value.at("stringValue").get<std::string>();
            }
        return {};
    }
};

/// A collector of OTLP/HTTP that answers as the test says.
class Collector {
public:
    /// Takes the spans of each request and says so.
    static void take(Exchange& e) { e.answer("Content-Type: application/json\r\n", "{}"); }

    Collector()
        : server_([this](Exchange& e) {
              note(e);
              take(e);
          }) {}
    /// `answer` answers each request; `takes`: whether the spans count as taken.
    [[nodiscard]] ScriptedOrigin::Scripted answers(ScriptedOrigin::Script answer, bool takes) {
        return server_.set([this, answer = std::move(answer), takes](Exchange& e) {
            if (takes) note(e);
            answer(e);
        });
    }

    std::vector<Span> spans() const {
        const std::lock_guard lock(mutex_);
        return spans_;
    }
    std::vector<Span> named(std::string_view name, std::string_view node = {}) const {
        auto found = spans();
        std::erase_if(found, [&](const Span& span) {
            return span.name != name || (!node.empty() && span.node != node);
        });
        return found;
    }
    std::size_t requests() const { return server_.requests(); }
    std::vector<std::string> heads() const { return server_.heads(); }
    CollectorUrl url() const {
        CollectorUrl url;
        url.text = "http://127.0.0.1:" + std::to_string(server_.port()) + "/v1/traces";
        url.place = {"127.0.0.1", server_.port()};
        url.authority = url.place.text();
        url.path = "/v1/traces";
        return url;
    }

private:
    void note(const Exchange& e) {
        const auto body = json::parse(e.body);
        const std::lock_guard lock(mutex_);
        for (const auto& resource : body.at("resourceSpans")) {
            std::string node;
            for (const auto& each : resource.at("resource").at("attributes"))
                if (each.at("key") == "service.instance.id")
                    node = each.at("value").at("stringValue");
            for (const auto& span : resource.at("scopeSpans").at(0).at("spans"))
                spans_.push_back({node, span.at("traceId"), span.at("spanId"),
                                  span.value("parentSpanId", ""), span.at("name"), span.at("kind"),
                                  span});
        }
    }

    mutable std::mutex mutex_;
    std::vector<Span> spans_;
    ScriptedOrigin server_;
};

class Tracing : public NodesTest {
protected:
    Tracing() { constants.spans.delay = 10ms; }
    ~Tracing() override { std::filesystem::remove(log_); }

    TracingConfig tracing(double ratio = 1) const {
        TracingConfig tracing;
        tracing.endpoint = collector.url();
        tracing.sample_ratio = ratio;
        return tracing;
    }
    Config traced(const std::string& node, unsigned nodes = 0, double ratio = 1) const {
        auto settings = nodes == 0 ? config(node) : config(node, nodes);
        settings.tracing = tracing(ratio);
        return settings;
    }
    void start_traced(unsigned nodes, double ratio) {
        for (unsigned i = 0; i < nodes; ++i)
            start(traced(std::string(1, static_cast<char>('a' + i)), nodes, ratio));
        for (unsigned i = 0; i < nodes; ++i)
            ASSERT_TRUE(
                eventually([&] { return in_sync(std::string(1, static_cast<char>('a' + i))); }));
    }
    bool come(std::size_t spans) const {
        return eventually([&] { return collector.spans().size() >= spans; });
    }
    std::string sent(std::size_t request, std::string_view field) const {
        return field_of(origin.heads().at(request), field);
    }
    /// A node sends a context of version 00.
    static TraceContext context_in(const std::string& value) {
        const auto context = parse_traceparent(value);
        EXPECT_TRUE(context) << value;
        return context.value_or(TraceContext{});
    }
    static std::string hex(const auto& id) {
        std::string out;
        append_id(out, id);
        return out;
    }

    Collector collector;
    const std::filesystem::path log_ = std::filesystem::path(testing::TempDir()) /
                                       ("hearsay_tracing_" + std::to_string(::getpid()) + ".log");
};

TEST_F(Tracing, ShowsAPeerHitOverBothNodesInOneTrace) {
    start_traced(2, 1e-9);
    store("a", "/one");
    EXPECT_EQ(get("b", "/one", traceparent()).body, "body of /one");
    ASSERT_TRUE(come(3));
    const auto spans = collector.spans();
    ASSERT_EQ(spans.size(), 3u);
    for (const auto& span : spans) EXPECT_EQ(span.trace, kTrace);
    const auto clients = collector.named("client request", "b");
    const auto questions = collector.named("peer request", "b");
    const auto peers = collector.named("peer request", "a");
    ASSERT_EQ(clients.size(), 1u);
    ASSERT_EQ(questions.size(), 1u);
    ASSERT_EQ(peers.size(), 1u);
    const auto &client = clients[0], &question = questions[0], &peer = peers[0];
    EXPECT_EQ(client.parent, kParent);
    EXPECT_EQ(question.parent, client.id);
    EXPECT_EQ(peer.parent, question.id);
    EXPECT_EQ(client.kind, 2);
    EXPECT_EQ(question.kind, 3);
    EXPECT_EQ(peer.kind, 2);
    EXPECT_EQ(client.text("hearsay.outcome"), "peer_hit");
    EXPECT_EQ(client.text("hearsay.peer"), "a");
    EXPECT_EQ(client.text("http.request.method"), "GET");
    EXPECT_EQ(client.text("http.response.status_code"), "200");
    EXPECT_EQ(client.text("url.full"), "http://origin.test/one");
    EXPECT_EQ(question.text("hearsay.peer"), "a");
    EXPECT_EQ(question.text("hearsay.peer_verdict"), "hit");
    EXPECT_EQ(peer.text("hearsay.outcome"), "local_hit");
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Tracing, ShowsAMissWithTheFetchAndAHitWithout) {
    start(traced("a"));
    EXPECT_EQ(get("a", "/one?q=1", traceparent() + "tracestate: v=1\r\ntracestate: w=2\r\n").status,
              200u);
    ASSERT_TRUE(come(2));
    const auto fetch = collector.named("origin fetch").at(0);
    const auto client = collector.named("client request").at(0);
    EXPECT_EQ(client.parent, kParent);
    EXPECT_EQ(fetch.parent, client.id);
    EXPECT_EQ(fetch.kind, 3);
    EXPECT_EQ(fetch.text("url.full"), "http://origin.test/one?q=1");
    EXPECT_EQ(fetch.text("http.response.status_code"), "200");
    EXPECT_EQ(client.text("hearsay.outcome"), "origin_fetch");
    // The origin's parent is the fetch.
    const auto context = context_in(sent(0, "traceparent"));
    EXPECT_EQ(hex(context.trace), kTrace);
    EXPECT_EQ(hex(context.span), fetch.id);
    EXPECT_TRUE(context.sampled);
    EXPECT_TRUE(contains(origin.heads()[0], "tracestate: v=1\r\ntracestate: w=2\r\n"));
    // Another client learns nothing of this trace.
    const auto hit = get("a", "/one?q=1");
    EXPECT_FALSE(contains(hit.head, kTrace)) << hit.head;
    ASSERT_TRUE(come(3));
    const auto second = collector.named("client request").at(1);
    EXPECT_NE(second.trace, kTrace);
    EXPECT_EQ(second.parent, "");
    EXPECT_EQ(second.text("hearsay.outcome"), "local_hit");
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Tracing, ObeysTheFlagOfATrustedParent) {
    start(traced("a"));
    EXPECT_EQ(get("a", "/not", traceparent("00")).status, 200u);
    const auto context = context_in(sent(0, "traceparent"));
    EXPECT_EQ(hex(context.trace), kTrace);
    EXPECT_NE(hex(context.span), kParent) << "the node is a span between them";
    EXPECT_FALSE(context.sampled);
    get("a", "/sampled", traceparent());
    ASSERT_TRUE(come(2));
    for (const auto& span : collector.spans())
        EXPECT_TRUE(contains(span.text("url.full"), "/sampled")) << span.text("url.full");
}

TEST_F(Tracing, BeginsATraceForAStranger) {
    auto settings = traced("a", 0, 1e-9);
    settings.tracing->trusted = PrefixList{"192.0.2.1"};
    start(settings);
    get("a", "/one", traceparent() + "tracestate: v=1\r\n");
    const auto context = context_in(sent(0, "traceparent"));
    EXPECT_NE(hex(context.trace), kTrace);
    EXPECT_FALSE(context.sampled) << "a stranger orders no spans";
    EXPECT_EQ(sent(0, "tracestate"), "");
    EXPECT_EQ(status("a").spans.waiting, 0u);
}

TEST_F(Tracing, BeginsATraceAfterAMalformedContext) {
    start(traced("a", 0, 1e-9));
    const std::vector<std::string> bad{
        "traceparent: 00-" + kTrace + "-" + kParent + "\r\n",
        "traceparent: 00-" + std::string(32, '0') + "-" + kParent + "-01\r\n",
        "traceparent: ff-" + kTrace + "-" + kParent + "-01\r\n", "traceparent: \r\n",
        traceparent() + traceparent()};
    for (std::size_t i = 0; i < bad.size(); ++i) {
        get("a", "/" + std::to_string(i), bad[i] + "tracestate: v=1\r\n");
        EXPECT_NE(hex(context_in(sent(i, "traceparent")).trace), kTrace) << bad[i];
        EXPECT_EQ(sent(i, "tracestate"), "") << bad[i];
        EXPECT_EQ(origin.heads()[i].find("traceparent"), origin.heads()[i].rfind("traceparent"));
    }
}

TEST_F(Tracing, WithoutItFieldsPassAsTheyAre) {
    start(config("a"));
    get("a", "/one", traceparent() + "tracestate: v=1\r\n");
    EXPECT_EQ(sent(0, "traceparent"), "00-" + kTrace + "-" + kParent + "-01");
    EXPECT_EQ(sent(0, "tracestate"), "v=1");
    get("a", "/two");
    EXPECT_FALSE(contains(origin.heads()[1], "trace"));
}

TEST_F(Tracing, SelectsNoVariantByTheTrace) {
    const auto scripted = origin.set(
        [](Exchange& e) { e.answer(fresh("Vary: traceparent, tracestate, Accept\r\n"), "x"); });
    start(traced("a", 0, 1e-9));
    get("a", "/one", traceparent() + "tracestate: v=1\r\n");
    EXPECT_TRUE(contains(get("a", "/one").cache_status(), "hit"));
    EXPECT_TRUE(contains(get("a", "/one", traceparent("00")).cache_status(), "hit"));
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Tracing, LinksAFollowerToTheLeader) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh(), "x");
    });
    start(traced("a"));
    auto leader = client("a");
    leader.begin("GET", "/one");
    ASSERT_TRUE(gate.wait_for(1));
    auto follower = client("a");
    follower.begin("GET", "/one", traceparent());
    ASSERT_TRUE(eventually([&] { return status("a").work.collapsed == 1; }));
    gate.open();
    EXPECT_EQ(leader.read().body, "x");
    EXPECT_EQ(follower.read().body, "x");
    ASSERT_TRUE(come(3));
    const auto fetch = collector.named("origin fetch").at(0);
    for (const auto& span : collector.named("client request")) {
        if (span.trace != kTrace) {
            EXPECT_EQ(fetch.parent, span.id);
            EXPECT_FALSE(span.whole.contains("links"));
            continue;
        }
        ASSERT_TRUE(span.whole.contains("links"));
        EXPECT_EQ(span.whole.at("links")[0].at("traceId"), fetch.trace);
        EXPECT_EQ(span.whole.at("links")[0].at("spanId"), fetch.parent);
    }
}

TEST_F(Tracing, HasTheTraceIdInTheAccessLog) {
    auto settings = traced("a", 0, 1e-9);
    settings.log.access = log_;
    start(settings);
    get("a", "/one", traceparent());
    get("a", "/two");
    kill("a");
    std::ifstream in(log_);
    std::string line;
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(json::parse(line).at("trace_id"), kTrace);
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(json::parse(line).at("trace_id"), hex(context_in(sent(1, "traceparent")).trace));
}

TEST_F(Tracing, ADeadCollectorCostsNoRequest) {
    auto settings = traced("a");
    settings.tracing->endpoint.place.port = 1;
    constants.spans.queue = 4;
    constants.spans.batch = 2;
    start(settings);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(get("a", "/" + std::to_string(i)).status, 200u);
    ASSERT_TRUE(eventually([&] { return status("a").spans.failures > 0; }));
    // The queue keeps 4 of 40 spans, and the batch under way has 2.
    EXPECT_TRUE(eventually([&] { return status("a").spans.dropped >= 40 - 4 - 2; }));
    EXPECT_EQ(status("a").spans.sent, 0u);
    EXPECT_LE(status("a").spans.waiting, 4u);
}

TEST_F(Tracing, ACollectorThatHangsCostsNoRequest) {
    Gate gate;
    const auto scripted = collector.answers(
        [&](Exchange& e) {
            gate.wait();
            e.keep = false;
        },
        false);
    auto settings = traced("a");
    constants.spans.timeout = 50ms;
    start(settings);
    EXPECT_EQ(get("a", "/one").status, 200u);
    ASSERT_TRUE(gate.wait_for(1));
    EXPECT_EQ(get("a", "/two").status, 200u);
    ASSERT_TRUE(eventually([&] { return status("a").spans.failures > 0; }));
    EXPECT_EQ(status("a").spans.sent, 0u);
    gate.open();
}

TEST_F(Tracing, SendsTheSameSpansAgainAfterA429) {
    std::mutex mutex;
    std::vector<std::string> bodies;
    const auto scripted = collector.answers(
        [&](Exchange& e) {
            const std::lock_guard lock(mutex);
            bodies.push_back(e.body);
            if (bodies.size() == 1)
                e.answer("Retry-After: 1\r\n", "", "429 Too Many Requests");
            else
                Collector::take(e);
        },
        true);
    start(traced("a"));
    const auto before = std::chrono::steady_clock::now();
    get("a", "/one", traceparent());
    ASSERT_TRUE(eventually([&] { return status("a").spans.sent == 2; }));
    EXPECT_GE(std::chrono::steady_clock::now() - before, 1s);
    EXPECT_EQ(status("a").spans.failures, 1u);
    const std::lock_guard lock(mutex);
    ASSERT_GE(bodies.size(), 2u) << "a third one has the spans that ended later";
    EXPECT_EQ(bodies[0], bodies[1]);
}

TEST_F(Tracing, CountsSpansThatTheCollectorDoesNotWant) {
    const auto scripted = collector.answers(
        [&](Exchange& e) { e.answer("", "what is that?", "400 Bad Request"); }, false);
    start(traced("a"));
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return status("a").spans.refused == 2; }));
    EXPECT_TRUE(
        contains(admin("a", "/metrics").body, "hearsay_trace_spans_total{result=\"refused\"} 2\n"));
}

class TracingLog : private LogCapture, public Tracing {
protected:
    TracingLog() { spdlog::set_level(spdlog::level::info); }
    using LogCapture::logged;
};

TEST_F(TracingLog, SaysThatRefusedSpansAreLost) {
    const auto scripted = collector.answers(
        [&](Exchange& e) { e.answer("", "no such path", "404 Not Found"); }, false);
    start(traced("a"));
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return status("a").spans.refused == 2; }));
    const auto lines = logged("tracing: ");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(contains(lines[0],
                         " refuses spans: 404; these spans are lost; see the path of "
                         "tracing.endpoint"))
        << lines[0];
}

TEST_F(TracingLog, SaysThatAPartIsRejected) {
    const auto scripted = collector.answers(
        [&](Exchange& e) { e.answer("", R"({"partialSuccess": {"rejectedSpans": "1"}})"); }, false);
    auto settings = traced("a");
    constants.spans.delay = 1h;
    constants.spans.batch = 2;
    start(settings);
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return status("a").spans.refused == 1; }));
    ASSERT_TRUE(eventually([&] { return status("a").spans.sent == 1; }));
    EXPECT_EQ(logged(" has rejected 1 of 2 spans; these spans are lost").size(), 1u);
    get("a", "/two");
    ASSERT_TRUE(eventually([&] { return status("a").spans.refused == 2; }));
    EXPECT_EQ(logged("tracing: ").size(), 1u);
}

TEST_F(TracingLog, SaysThatSpansWaitForACollectorThatIsAway) {
    auto settings = traced("a");
    settings.tracing->endpoint.place.port = 1;
    start(settings);
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return status("a").spans.failures > 0; }));
    ASSERT_TRUE(eventually([&] { return logged("the node tries again").size() == 1; }));
}

/// One request at "a", whose way to the collector is the listener of a node.
class TracingLoop : public Tracing {
protected:
    void ask_with_way_by(const std::string& way) {
        for (const auto* node : {"b", "a"}) {
            auto settings = traced(node);
            auto& endpoint = settings.tracing->endpoint;
            const OriginConfig behind{"collector.test", endpoint.place};
            settings.origins.insert(settings.origins.begin(), behind);
            endpoint.place = {address(way), kProxyPort};
            endpoint.authority = "collector.test";
            start(settings);
        }
        get("a", "/one");
        ASSERT_TRUE(come(2));
        get("a", "/two");  // its spans would come after one of the first delivery
        ASSERT_TRUE(come(4));
        EXPECT_EQ(collector.spans().size(), 4u);
        EXPECT_LE(collector.requests(), 4u);
        EXPECT_FALSE(context_in(field_of(collector.heads().at(0), "traceparent")).sampled);
    }
};

TEST_F(TracingLoop, EndsAtOnceByTheOwnListener) {
    ask_with_way_by("a");
}

TEST_F(TracingLoop, EndsAtOnceByAnotherNode) {
    ask_with_way_by("b");
}

TEST_F(Tracing, LeavesOutTheQueryOfARedirect) {
    auto read = parse_config(
        R"({"node": "a", "listen": "1.2.3.4:5", "forward": {"enabled": true}, "rules": [
            {"name": "blobs", "match": {"hosts": ["origin.test"]}, "follow_redirects": true}]})");
    ASSERT_TRUE(read.config) << describe(read.errors);
    const auto scripted = origin.set([](Exchange& e) {
        if (e.target.starts_with("/blob"))
            return e.answer("Location: http://origin.test/file?sig=secret\r\n", "", "302 Found");
        e.answer(fresh(), "content");
    });
    auto settings = traced("a");
    settings.rules = read.config->rules;
    start(settings);
    EXPECT_EQ(get("a", "/blob?q=1").body, "content");
    ASSERT_TRUE(come(3));
    std::set<std::string> urls;
    for (const auto& span : collector.named("origin fetch")) urls.insert(span.text("url.full"));
    EXPECT_EQ(urls,
              (std::set<std::string>{"http://origin.test/blob?q=1", "http://origin.test/file"}));
    for (const auto& span : collector.spans())
        EXPECT_FALSE(contains(span.whole.dump(), "secret")) << span.whole.dump();
}

TEST_F(Tracing, NamesTheTargetOfATunnel) {
    auto settings = traced("a");
    settings.forward.enabled = true;
    settings.forward.connect_ports = {443};
    start(settings);
    EXPECT_EQ(client("a").ask("CONNECT", "Refused.test:1234").status, 403u);
    ASSERT_TRUE(come(1));
    const auto refused = collector.spans().at(0);
    EXPECT_EQ(refused.text("http.request.method"), "CONNECT");
    EXPECT_EQ(refused.text("server.address"), "refused.test");
    EXPECT_EQ(refused.text("server.port"), "1234");
    EXPECT_EQ(refused.text("url.full"), "");
    EXPECT_EQ(client("a").ask("CONNECT", "[::1]:1234").status, 403u);
    ASSERT_TRUE(come(2));
    EXPECT_EQ(collector.spans().at(1).text("server.address"), "::1");
    EXPECT_EQ(client("a").ask("CONNECT", "nothing").status, 400u);
    ASSERT_TRUE(come(3));
    EXPECT_EQ(collector.spans().at(2).text("server.address"), "");
}

TEST_F(Tracing, SendsTheLastSpansAtTheEndOfADrain) {
    auto settings = traced("a");
    constants.spans.delay = 1h;
    auto& node = start(settings);
    get("a", "/one");
    EXPECT_EQ(collector.requests(), 0u);
    node.drain();
    node.join();
    EXPECT_EQ(collector.spans().size(), 2u);
    EXPECT_EQ(field_of(collector.heads().at(0), "Content-Type"), "application/json");
}

TEST_F(Tracing, ADrainEndsWithoutTheCollector) {
    auto settings = traced("a");
    constants.spans.delay = 1h;
    settings.tracing->endpoint.place.port = 1;
    auto& node = start(settings);
    get("a", "/one");
    node.drain();
    node.join();
}

TEST_F(Tracing, ShowsARequestThatPassesTheStore) {
    start(traced("a"));
    EXPECT_EQ(client("a").ask("POST", "/form", traceparent(), "x=1").status, 200u);
    ASSERT_TRUE(come(2));
    const auto fetch = collector.named("origin fetch").at(0);
    EXPECT_EQ(fetch.text("http.request.method"), "POST");
    EXPECT_EQ(hex(context_in(sent(0, "traceparent")).span), fetch.id);
    EXPECT_EQ(collector.named("client request").at(0).text("hearsay.outcome"), "uncacheable");
}

TEST_F(Tracing, ShowsAReadFromTheDisk) {
    TemporaryDirectory directory;
    auto settings = traced("a", 0, 1e-9);
    settings.cache.disk = {{directory.path().string(), 256ull << 20}};
    settings.cache.disk_admission = DiskAdmission::always;
    start(settings);
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return status("a").store_disk.disk_objects == 1; }));
    kill("a");
    start(settings);
    ASSERT_TRUE(eventually([&] { return status("a").store_disk.disk_objects == 1; }));
    EXPECT_EQ(get("a", "/one", traceparent()).body, "body of /one");
    ASSERT_TRUE(come(2));
    const auto read = collector.named("disk read").at(0);
    EXPECT_EQ(read.kind, 1);
    EXPECT_EQ(read.parent, collector.named("client request").at(0).id);
    EXPECT_EQ(origin.requests(), 1u);
    kill("a");
}

TEST_F(Tracing, ARuleKeepsTheTraceFromAnOrigin) {
    auto read = parse_config(
        R"({"node": "a", "listen": "1.2.3.4:5", "forward": {"enabled": true}, "rules": [
            {"name": "quiet", "request_fields": {"remove": ["Traceparent", "tracestate"]}}]})");
    ASSERT_TRUE(read.config) << describe(read.errors);
    auto settings = traced("a");
    settings.rules = read.config->rules;
    start(settings);
    get("a", "/one", traceparent() + "tracestate: v=1\r\n");
    EXPECT_FALSE(contains(origin.heads().at(0), "trace")) << origin.heads()[0];
    ASSERT_TRUE(come(2));
    EXPECT_EQ(collector.named("client request").at(0).text("hearsay.rule"), "quiet");
}

TEST_F(Tracing, BeginsAndEndsWithAReload) {
    const auto file = log_.string() + ".json";
    const auto reload = [&](const Config& settings) {
        std::ofstream(file, std::ios::trunc) << effective_config(settings);
        const auto answer = admin_client("a").ask("POST", "/api/v1/reload", "", "");
        EXPECT_EQ(answer.status, 200u) << answer.body;
    };
    start(config("a"), file);
    get("a", "/one", traceparent());
    reload(traced("a"));
    get("a", "/two", traceparent());
    ASSERT_TRUE(come(2));
    for (const auto& span : collector.spans())
        EXPECT_EQ(span.text("url.full"), "http://origin.test/two");
    reload(config("a"));
    get("a", "/three", traceparent());
    EXPECT_EQ(sent(2, "traceparent"), "00-" + kTrace + "-" + kParent + "-01");
    EXPECT_EQ(collector.spans().size(), 2u);
    std::filesystem::remove(file);
}

TEST_F(Tracing, GivesExemplarsToThoseThatAskForOpenMetrics) {
    start(traced("a", 0, 1e-9));
    get("a", "/one", traceparent());
    auto scraper = admin_client("a");
    const auto plain = scraper.get("/metrics");
    EXPECT_TRUE(plain.field("Content-Type").starts_with("text/plain; version=0.0.4"));
    EXPECT_FALSE(contains(plain.body, kTrace));
    const auto open =
        scraper.get("/metrics", "Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n");
    EXPECT_EQ(open.field("Content-Type"),
              "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_TRUE(contains(open.body, "} 1 # {trace_id=\"" + kTrace + "\"} ")) << open.body;
    EXPECT_TRUE(open.body.ends_with("# EOF\n"));
}

}  // namespace tracing_test
}  // namespace proxy::test
