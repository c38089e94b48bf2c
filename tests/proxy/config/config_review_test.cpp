#include "proxy/config/config_review.hpp"
#include "proxy/config/parse_config.hpp"
#include "tests/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace proxy {
namespace config_review_test {

using nlohmann::json;
using test::TemporaryDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::StartsWith;

/// Nothing to object to: a node with a peer.
json sound() {
    return json::parse(R"({"node": "a", "listen": "10.0.0.1:3128",
        "origins": [{"host": "*", "url": "http://10.0.0.7:8000"}],
        "cluster": {"key": "0123456789abcdef0123456789abcdef", "listen": "10.0.0.1:3129",
                    "peers": [{"node": "b", "http": "10.0.0.2:3128", "link": "10.0.0.2:3129"}]}})");
}

/// `sound()` with the values of `patch` in it.
json with(const char* patch) {
    auto config = sound();
    config.merge_patch(json::parse(patch));
    return config;
}

std::vector<std::string> lines(const std::vector<ConfigError>& found) {
    std::vector<std::string> text;
    for (const auto& each : found) text.push_back(each.path + ": " + each.message);
    return text;
}

ConfigResult parse(const json& config) {
    return parse_config(config.dump(), [](const std::string&) { return std::nullopt; });
}
std::vector<std::string> errors(const json& config) {
    return lines(parse(config).errors);
}
std::vector<std::string> warnings(const json& config) {
    const auto result = parse(config);
    EXPECT_EQ(describe(result.errors), "");
    return lines(result.warnings);
}

TEST(ConfigReview, DoubtsInterceptedHostsThatGoOnInTheClear) {
    const auto config = [](const std::string& origins, const std::string& hosts) {
        return with((R"({"origins": )" + origins + R"(, "forward": {"enabled": true, "intercept": {
            "hosts": )" +
                     hosts + R"(, "ca": {"certificate": "ca.pem", "key": "ca-key.pem"}}}})")
                        .c_str());
    };
    const auto clear = HasSubstr("to the origin in the clear");
    EXPECT_THAT(
        warnings(config(R"([{"host": "pypi.org", "url": "http://10.0.0.7"}])", R"(["pypi.org"])")),
        ElementsAre(AllOf(StartsWith("$.origins[0].url: "), clear)));
    EXPECT_THAT(warnings(config(R"([{"host": "*.crates.io", "url": "http://10.0.0.7"}])",
                                R"(["static.crates.io"])")),
                ElementsAre(clear));
    EXPECT_THAT(warnings(config(R"([{"host": "index.crates.io", "url": "http://10.0.0.7"}])",
                                R"(["*.crates.io"])")),
                ElementsAre(clear));
    EXPECT_THAT(warnings(config(R"([{"host": "pypi.org", "url": "https://10.0.0.7"},
                                    {"host": "other.org", "url": "http://10.0.0.7"}])",
                                R"(["pypi.org"])")),
                IsEmpty());
}

TEST(ConfigReview, DoubtsPasswordsAtAHostOfSeveralParties) {
    const auto config = [](const std::string& rule, const std::string& other = "http://m/b") {
        return with((R"({"origins": [
            {"host": "a", "url": "https://a", "public": "http://m/a"},
            {"host": "b", "url": "https://b", "public": ")" +
                     other + R"("}], "rules": [)" + rule + "]}")
                        .c_str());
    };
    const auto doubt = AllOf(StartsWith("$.origins[0].public: "), HasSubstr("$.origins[1]"),
                             HasSubstr("the rule r is for passwords or cookies"));
    for (const std::string what :
         {R"("authorize": "origin")", R"("share_authorized": true)", R"("ignore": ["set-cookie"])",
          R"("request_fields": {"set": {"Authorization": "Bearer x"}})"}) {
        const auto rule = R"({"name": "r", "match": {"paths": ["/a/*"]}, )" + what + "}";
        EXPECT_THAT(warnings(config(rule)), testing::Contains(doubt)) << what;
        EXPECT_THAT(warnings(config(rule, "http://n/b")), testing::Not(testing::Contains(doubt)))
            << what;
    }
    EXPECT_THAT(
        warnings(config(R"({"name": "r", "match": {"paths": ["/a/*"]}, "immutable": true})")),
        testing::Not(testing::Contains(doubt)));
}

TEST(ConfigReview, HasNothingToSayOfWhatIsInOrder) {
    EXPECT_THAT(warnings(sound()), IsEmpty());
    EXPECT_THAT(warnings(with(R"({"admin": null})")), IsEmpty());
    EXPECT_THAT(warnings(with(R"({"cluster": {"peers": [
        {"node": "a", "http": "a:3128", "link": "a:3129"},
        {"node": "b", "http": "b:3128", "link": "b:3129"}]}})")),
                IsEmpty());  // the same file for all
}

TEST(ConfigReview, DoubtsAGraceThatLeavesNoTimeToEndConnections) {
    const auto* all_of_it =
        "$.timeouts.drain_grace: takes all of drain: connections that are "
        "still there then are cut off";
    EXPECT_THAT(warnings(with(R"({"timeouts": {"drain": "1s"}})")), ElementsAre(all_of_it));
    EXPECT_THAT(warnings(with(R"({"timeouts": {"drain": "1.1s"}})")), IsEmpty());
    EXPECT_THAT(warnings(with(R"({"timeouts": {"drain": 0}})")), IsEmpty());  // meant so
}

TEST(ConfigReview, RefusesOneAddressForTwoListeners) {
    EXPECT_THAT(errors(with(R"({"cluster": {"listen": "10.0.0.1:3128"}})")),
                ElementsAre("$.cluster.listen: 10.0.0.1:3128 is taken by $.listen"));
    EXPECT_THAT(errors(with(R"({"listen": "0.0.0.0:3129"})")),
                ElementsAre("$.cluster.listen: 10.0.0.1:3129 is taken by $.listen"));
    EXPECT_THAT(errors(with(R"({"listen": "localhost:9128"})")),
                ElementsAre("$.admin.listen: 127.0.0.1:9128 is taken by $.listen"));
    EXPECT_THAT(errors(with(R"({"cluster": {"listen": "10.0.0.2:3128"}})")), IsEmpty());
}

TEST(ConfigReview, RefusesAsManyPeersAsARunningNodeWould) {
    auto config = sound();
    config["cluster"]["max_peers"] = 64;
    auto& peers = config["cluster"]["peers"];
    for (int i = 0; peers.size() < 64; ++i) {
        const auto host = "p" + std::to_string(i);
        peers.push_back({{"node", host}, {"http", host + ":1"}, {"link", host + ":2"}});
    }
    EXPECT_THAT(errors(config), IsEmpty());
    peers.push_back({{"node", "more"}, {"http", "more:1"}, {"link", "more:2"}});
    EXPECT_THAT(errors(config), ElementsAre(StartsWith("$.cluster.peers: must be at most 64")));
    peers.back()["node"] = "a";
    EXPECT_THAT(errors(config), IsEmpty());
}

TEST(ConfigReview, RefusesGoneAfterTwoHeartbeatsAsARunningNodeWould) {
    EXPECT_THAT(
        errors(with(R"({"cluster": {"heartbeat": "1s", "gone_after": "2s"}})")),
        ElementsAre("$.cluster.gone_after: is 2s, and must be more than twice the heartbeat, "
                    "1s"));
}

TEST(ConfigReview, FindsContentByTlsThatTravelsInTheClear) {
    const auto of_tls = R"("origins": [{"host": "*", "url": "https://o"}])";
    const auto with_cluster = [&](const std::string& cluster) {
        const auto patch = "{" + std::string(of_tls) + R"(, "cluster": )" + cluster + "}";
        return warnings(with(patch.c_str()));
    };
    EXPECT_THAT(with_cluster("{}"), IsEmpty());
    EXPECT_THAT(
        with_cluster(R"({"encrypt": false})"),
        ElementsAre("$.cluster.encrypt: is off, so content that came by TLS travels between "
                    "the nodes in the clear"));
    EXPECT_THAT(warnings(with(R"({"cluster": {"encrypt": false}})")), IsEmpty());
    EXPECT_THAT(with_cluster(R"({"allow_clear": true})"),
                ElementsAre(StartsWith("$.cluster.allow_clear: is for the time of an upgrade")));
    EXPECT_THAT(errors(with(R"({"cluster": {"encrypt": false, "allow_clear": true}})")),
                ElementsAre(StartsWith("$.cluster.allow_clear: needs cluster.encrypt")));
}

TEST(ConfigReview, FindsOriginsThatAreNeverUsed) {
    EXPECT_THAT(
        warnings(with(R"({"origins": [{"host": "*", "url": "http://o"},
                                              {"host": "x.test", "url": "http://p"}]})")),
        ElementsAre("$.origins[1]: is never used: $.origins[0] before it takes every host"));
    EXPECT_THAT(
        warnings(with(R"({"origins": [{"host": "x.test", "url": "http://o"},
                                      {"host": "y.test", "url": "http://o"},
                                      {"host": "X.test", "url": "http://p"}]})")),
        ElementsAre(
            "$.origins[2].host: is never used: $.origins[0] before it is for the same host"));
    EXPECT_THAT(warnings(with(R"({"forward": {"enabled": true}})")),
                ElementsAre(StartsWith("$.forward.enabled: is for CONNECT alone")));
}

TEST(ConfigReview, FindsRulesThatAreNeverUsed) {
    const std::string end = "; the first rule that matches counts, so put the narrower one first";
    EXPECT_THAT(warnings(with(R"({"rules": [{"name": "a", "match": {"paths": ["*"]}},
                                            {"name": "b", "fresh_for": "1m"}]})")),
                ElementsAre("$.rules[1]: is never used: the rule a before it is for all of its "
                            "requests" +
                            end));
    EXPECT_THAT(warnings(with(R"({"rules": [
                    {"name": "npm-index", "match": {"methods": ["GET"]}, "fresh_for": "5m"},
                    {"name": "pypi-index", "match": {"paths": ["/simple/*"]}, "fresh_for": "1m"}]})")),
                ElementsAre("$.rules[1]: has no effect: the rule npm-index before it is for all of "
                            "its GET requests" +
                            end));
}

TEST(ConfigReview, FindsOriginsBehindAWildcard) {
    EXPECT_THAT(warnings(with(R"({"origins": [{"host": "*.x.test", "url": "http://o"},
                                              {"host": "a.x.test", "url": "http://p"},
                                              {"host": "*.b.x.test", "url": "http://p"},
                                              {"host": "x.test", "url": "http://p"},
                                              {"host": "ax.test", "url": "http://p"}]})")),
                ElementsAre("$.origins[1].host: is never used: $.origins[0] before it takes all of "
                            "its hosts",
                            "$.origins[2].host: is never used: $.origins[0] before it takes all of "
                            "its hosts"));
    EXPECT_THAT(warnings(with(R"({"origins": [{"host": "x.test", "path": "/a", "url": "http://o"},
                                              {"host": "x.test", "path": "/a/b", "url": "http://p"},
                                              {"host": "x.test", "path": "/ab", "url": "http://p"},
                                              {"host": "a.test", "url": "http://p"},
                                              {"host": "*.test", "url": "http://p"}]})")),
                ElementsAre("$.origins[1].host: is never used: $.origins[0] before it is for the "
                            "same host"));
}

TEST(ConfigReview, FindsRulesBehindAWiderOne) {
    const auto before = [](const std::string& name) {
        return "is never used: the rule " + name + " before it is for all of its requests";
    };
    EXPECT_THAT(warnings(with(R"({"rules": [
            {"name": "a", "match": {"hosts": ["*.test"], "paths": ["/img/*"]}, "fresh_for": "1m"},
            {"name": "b", "match": {"hosts": ["x.test"], "paths": ["/img/*.png", "/img/a"]}},
            {"name": "c", "match": {"hosts": ["*.x.test"], "paths": ["/img/*"], "methods": ["GET"]}},
            {"name": "d", "match": {"hosts": ["x.test", "y.org"], "paths": ["/img/a"]}},
            {"name": "e", "match": {"hosts": ["x.test"]}},
            {"name": "f", "match": {"paths": ["/img/*"]}}]})")),
                ElementsAre(StartsWith("$.rules[1]: " + before("a")),
                            StartsWith("$.rules[2]: " + before("a"))));
    EXPECT_THAT(warnings(with(R"({"rules": [
            {"name": "a", "match": {"hosts": ["x.test"], "methods": ["GET"]}, "fresh_for": "1m"},
            {"name": "b", "match": {"hosts": ["x.test"]}, "bypass": true}]})")),
                IsEmpty());
}

TEST(ConfigReview, TellsPathsOfOneHostApart) {
    EXPECT_THAT(warnings(with(R"({"origins": [{"host": "*", "path": "/a", "url": "http://o"},
                                      {"host": "*", "path": "/b", "url": "http://o"},
                                      {"host": "*", "url": "http://p"}]})")),
                IsEmpty());
    EXPECT_THAT(warnings(with(R"({"origins": [{"host": "x.test", "url": "http://o"},
                                      {"host": "x.test", "path": "/a", "url": "http://p"}]})")),
                ElementsAre("$.origins[1].host: is never used: $.origins[0] before it is for the "
                            "same host"));
}

TEST(ConfigReview, FindsParentsWithoutAForwardProxy) {
    EXPECT_THAT(warnings(with(R"({"forward": {"parent": ["http://10.0.0.9:3128"]}})")),
                ElementsAre("$.forward.parent: is not used, because forward.enabled is false"));
    EXPECT_THAT(warnings(with(R"({"forward": {"no_proxy": ["x.test"]}})")),
                ElementsAre("$.forward.no_proxy: decides nothing without forward.parent"));
}

TEST(ConfigReview, FindsANodeThatAsksItself) {
    EXPECT_THAT(warnings(with(R"({"origins": [{"host": "*", "upstreams": [
                    {"url": "http://10.0.0.9"}, {"url": "http://10.0.0.1:3128"}]}]})")),
                ElementsAre("$.origins[0].upstreams[1].url: is this node itself ($.listen)"));
    EXPECT_THAT(warnings(with(R"({"forward": {"parent": ["http://10.0.0.1:3128"]}})")),
                testing::Contains("$.forward.parent[0]: is this node itself ($.listen)"));
    EXPECT_THAT(warnings(with(R"({"origins": [{"host": "*", "url": "http://10.0.0.1:3128"}]})")),
                ElementsAre("$.origins[0].url: is this node itself ($.listen)"));
    EXPECT_THAT(warnings(with(R"({"listen": "0.0.0.0:3128",
                                  "origins": [{"host": "*", "url": "http://localhost:3128"}]})")),
                ElementsAre("$.origins[0].url: is this node itself ($.listen)"));
    EXPECT_THAT(warnings(with(R"({"origins": [{"host": "*", "url": "http://10.0.0.2:3128"}]})")),
                ElementsAre(StartsWith("$.origins[0].url: is the peer b")));
    EXPECT_THAT(warnings(with(R"({"cluster": {"peers": [
                    {"node": "b", "http": "10.0.0.1:3128", "link": "10.0.0.2:3129"}]}})")),
                ElementsAre("$.cluster.peers[0].http: is this node itself ($.listen)"));
    EXPECT_THAT(warnings(with(R"({"cluster": {"peers": [
                    {"node": "b", "http": "10.0.0.2:3128", "link": "10.0.0.1:3129"}]}})")),
                ElementsAre("$.cluster.peers[0].link: is this node itself ($.cluster.listen)"));
}

TEST(ConfigReview, FindsCollectorsThatAreNone) {
    const auto of = [](const std::string& url) {
        return warnings(with((R"({"tracing": {"endpoint": ")" + url + "\"}}").c_str()));
    };
    for (const auto* good : {"http://10.0.0.9:4318", "http://10.0.0.9:4318/v1/traces?tenant=1",
                             "https://otlp.example/otlp/v1/traces", "http://10.0.0.9/api/spans",
                             "http://10.0.0.9/insert/opentelemetry", "http://10.0.0.2:4318"})
        EXPECT_THAT(of(good), IsEmpty()) << good;
    EXPECT_THAT(of("http://10.0.0.9:4317"),
                ElementsAre(AllOf(StartsWith("$.tracing.endpoint: has port 4317"),
                                  HasSubstr("port 4318"))));
    for (const auto* path : {"/v1/trace", "/v1/traces/", "/v1traces", "/v1/Traces", "/v1/tarces",
                             "/otlp/v1/trace?x=/v1/traces", "/v1//traces"})
        EXPECT_THAT(of(std::string("http://10.0.0.9:4318") + path),
                    ElementsAre(AllOf(StartsWith("$.tracing.endpoint: has the path /"),
                                      HasSubstr("; that of OTLP is /v1/traces"))))
            << path;
    EXPECT_THAT(of("http://10.0.0.1:3128"),
                ElementsAre("$.tracing.endpoint: is this node itself ($.listen)"));
}

TEST(ConfigReview, FindsMorePeersThanAKindIsFor) {
    const auto with_peers = [](int count) {
        std::string peers;
        for (int i = 1; i <= count; ++i)
            peers += R"({"node": "n)" + std::to_string(i) + R"(", "http": "10.0.1.)" +
                     std::to_string(i) + R"(:3128", "link": "10.0.1.)" + std::to_string(i) +
                     R"(:3129"})" + (i < count ? "," : "");
        const auto patch = R"({"summary": {"kind": "cuckoo"}, "cluster": {"peers": [)" + peers;
        return with((patch + "]}}").c_str());
    };
    EXPECT_THAT(warnings(with_peers(64)), IsEmpty());
    EXPECT_THAT(warnings(with_peers(65)), ElementsAre(StartsWith("$.summary.kind: exceeds")));
}

TEST(ConfigReview, FindsPeersThatAreMixedUp) {
    EXPECT_THAT(warnings(with(R"({"cluster": {"peers": []}})")),
                ElementsAre("$.cluster.peers: lists no other node: nothing is shared"));
    EXPECT_THAT(
        warnings(with(R"({"cluster": {"peers": [
                    {"node": "a", "http": "x:1", "link": "x:2"},
                    {"node": "b", "http": "y:3128", "link": "y:3129"}]}})")),
        ElementsAre(StartsWith("$.cluster.peers[0]: names this node itself but other ports; the "
                               "entry is ignored")));
    EXPECT_THAT(warnings(with(R"({"cluster": {"peers": [
                    {"node": "b", "http": "y:3129", "link": "y:3128"}]}})")),
                ElementsAre(HasSubstr("the wrong way round")));
    EXPECT_THAT(warnings(with(R"({"cluster": {"peers": [
                    {"node": "b", "http": "y:3128", "link": "y:3128"}]}})")),
                ElementsAre(HasSubstr("one address for both")));
    EXPECT_THAT(warnings(with(R"({"cluster": {"peers": [
                    {"node": "b", "http": "y:3128", "link": "y:3129"},
                    {"node": "c", "http": "y:3128", "link": "z:3129"}]}})")),
                ElementsAre("$.cluster.peers[1].http: another peer has this address"));
    EXPECT_THAT(warnings(with(R"({"cluster": {"listen": "127.0.0.1:3129"}})")),
                ElementsAre(StartsWith("$.cluster.listen: is reached from this machine only")));
}

TEST(ConfigReview, FindsSizesThatNothingReaches) {
    EXPECT_THAT(warnings(with(R"({"cache": {"memory": "1GiB", "slice_from": "1GiB"}})")),
                ElementsAre(AllOf(StartsWith("$.cache.slice_from: is never reached"),
                                  HasSubstr("512MiB"))));
    EXPECT_THAT(
        warnings(with(R"({"cache": {"memory": "1GiB", "object_max": "2GiB", "block": "1GiB"}})")),
        ElementsAre(StartsWith("$.cache.object_max: is never reached"),
                    StartsWith("$.cache.block: is never reached")));
    // In blocks it is.
    EXPECT_THAT(warnings(with(R"({"cache": {"memory": "1GiB", "object_max": "2GiB"}})")),
                IsEmpty());
    EXPECT_THAT(warnings(with(R"({"cache": {"memory": "1GiB", "object_max": "512MiB"}})")),
                IsEmpty());
    EXPECT_THAT(warnings(with(R"({"cache": {"memory": "64MiB"}})")), IsEmpty());  // a default
}

TEST(ConfigReview, FindsVariablesWithoutBraces) {
    EXPECT_THAT(warnings(with(R"({"log": {"access": "$LOG_DIR/access.log"}})")),
                ElementsAre("$.log.access: has a $NAME that stays as it is; a variable is written "
                            "${NAME}"));
    const auto short_key = parse(with(R"({"cluster": {"key": "$HEARSAY_CLUSTER_KEY"}})"));
    EXPECT_THAT(lines(short_key.errors), ElementsAre(HasSubstr("must have at least 32 bytes")));
    EXPECT_THAT(lines(short_key.warnings), ElementsAre(StartsWith("$.cluster.key: has a $NAME")));
    EXPECT_THAT(warnings(with(R"({"log": {"access": "/var/log/us$d $5 $$"}})")), IsEmpty());
}

TEST(ConfigReview, FindsWhoMayDoAnythingOnLoopbackToo) {  // where proxies connect from
    EXPECT_THAT(warnings(with(R"({"listen": "127.0.0.1:3128", "cluster": null,
                                  "purge": {"allow": ["0.0.0.0/0"]},
                                  "clients": {"trusted_proxies": ["0.0.0.0/0"]}})")),
                ElementsAre("$.purge.allow: lets everybody purge",
                            StartsWith("$.clients.trusted_proxies: lets everybody")));
}

TEST(ConfigReview, FindsDoorsThatAreClosedToEverybody) {
    EXPECT_THAT(warnings(with(R"({"clients": {"allow": []}})")),
                ElementsAre("$.clients.allow: lets no client in"));
    EXPECT_THAT(warnings(with(R"({"clients": {"deny": ["0.0.0.0/0"]}})")),
                ElementsAre("$.clients: lets no client in"));
    EXPECT_THAT(warnings(with(R"({"listen": "[::]:3128", "clients": {"deny": ["0.0.0.0/0"]}})")),
                IsEmpty());
    EXPECT_THAT(warnings(with(R"({"clients": {"deny": ["10.0.0.0/8"]}})")), IsEmpty());
    const auto forward = [](const std::string& deny) {
        const auto text = R"({"origins": null, "forward": {"enabled": true, "destinations":
            {"deny": [)" + deny +
                          "]}}}";
        return warnings(with(text.c_str()));
    };
    EXPECT_THAT(forward(R"("x.test", "*")"),
                ElementsAre("$.forward.destinations.deny: refuses every target, and wins over "
                            "allow: nothing is forwarded"));
    EXPECT_THAT(forward(R"("*.test", "*:25")"), IsEmpty());
}

TEST(ConfigReview, FindsRedirectsThatNobodyFollows) {
    const auto rule = [](const std::string& more) {
        const auto text =
            R"({"rules": [{"name": "r", "match": {"paths": ["/x/*"]}, "follow_redirects": true)" +
            more + "}]}";
        return warnings(with(text.c_str()));
    };
    EXPECT_THAT(rule(R"(, "bypass": true)"),
                ElementsAre(StartsWith("$.rules[0].follow_redirects: has no effect")));
    EXPECT_THAT(rule(""), IsEmpty());
}

TEST(ConfigReview, SaysWhatAPrefixWithBitsOfAHostStandsFor) {
    EXPECT_THAT(
        warnings(with(
            R"({"clients": {"deny": ["10.0.0.7/8", "10.0.0.7/32", "10.0.0.7", "fd00::7/8"]}})")),
        ElementsAre("$.clients.deny[0]: stands for all of 10.0.0.0/8",
                    "$.clients.deny[3]: stands for all of fd00::/8"));
}

TEST(ConfigReview, KnowsTheKeyThatEverybodyCanRead) {
    EXPECT_THAT(
        warnings(with(R"({"cluster": {"key": "for-trying-things-out-only-not-a-secret"}})")),
        ElementsAre(StartsWith("$.cluster.key: is that of docker-compose.yml")));
}

TEST(ConfigReview, ProposesNoWordThatOpensEverything) {
    EXPECT_THAT(errors(with(R"({"forward": {"private_destinations": "alow"}})")),
                ElementsAre("$.forward.private_destinations: must be \"deny\", \"allow\" or a list "
                            "of prefixes, such as [\"10.1.0.0/16\"]"));
}

TEST(ConfigReview, NamesAPortThatCannotBe) {
    EXPECT_THAT(errors(with(R"({"listen": "10.0.0.1:99999"})")),
                ElementsAre("$.listen: has the port 99999; ports are 1 to 65535"));
    EXPECT_THAT(errors(with(R"({"listen": "[::1]:0"})")),
                ElementsAre("$.listen: has the port 0; ports are 1 to 65535"));
}

TEST(ConfigReview, FindsDoorsThatAreOpenToEverybody) {
    EXPECT_THAT(
        warnings(with(R"({"origins": null, "forward": {"enabled": true, "clients": ["0.0.0.0/0"]},
                                  "purge": {"allow": ["::/0"]},
                                  "clients": {"trusted_proxies": ["0.0.0.0/0"]}})")),
        ElementsAre(StartsWith("$.forward.clients: lets everybody in"),
                    "$.purge.allow: lets everybody purge",
                    StartsWith("$.clients.trusted_proxies: lets everybody")));
}

TEST(ConfigReview, FindsAnAdminPortBeyondLoopbackWithoutAToken) {
    for (const auto* host : {"0.0.0.0", "[::]", "10.0.0.1", "node-a"}) {
        auto config = with(R"({"admin": {}})");
        config["admin"]["listen"] = host + std::string(":9128");
        EXPECT_THAT(warnings(config), ElementsAre(StartsWith("$.admin: listens beyond"))) << host;
        config["admin"]["token"] = "0123456789abcdef0123456789abcdef";
        EXPECT_THAT(warnings(config), IsEmpty()) << host;
    }
}

TEST(ConfigReview, FindsWordsThatBecomeFilesOfALog) {
    for (const auto* word : {"Off", "none", "STDOUT", "stderr", "-"}) {
        auto config = sound();
        config["log"]["access"] = word;
        EXPECT_THAT(warnings(config), ElementsAre(HasSubstr("taken for a file's name"))) << word;
    }
}

/// `sound()` as it would be read on a machine whose addresses are these of the loopback.
Config here(const char* patch) {
    auto config = with(R"({"listen": "127.0.0.1:3128",
        "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}],
        "cluster": {"listen": "127.0.0.1:3129", "peers": [
            {"node": "b", "http": "127.0.0.2:3128", "link": "127.0.0.2:3129"}]}})");
    config.merge_patch(json::parse(patch));
    return parse(config).config.value();
}

TEST(ConfigReview, FindsAddressesThatThisMachineDoesNotHave) {
    EXPECT_THAT(lines(doubts_here(here("{}"))), IsEmpty());
    EXPECT_THAT(lines(doubts_here(here(R"({"listen": "192.0.2.1:3128"})"))),
                ElementsAre("$.listen: 192.0.2.1 is no address of this machine"));
}

TEST(ConfigReview, FindsNamesThatDoNotResolve) {  // RFC 6761: never
    EXPECT_THAT(
        lines(doubts_here(here(R"({"listen": "nowhere.invalid:3128",
            "origins": [{"host": "*", "url": "http://nowhere.invalid:8000"}],
            "tracing": {"endpoint": "http://nowhere.invalid:4318"}})"))),
        ElementsAre(StartsWith("$.listen: nowhere.invalid does not resolve here: "),
                    StartsWith("$.origins[0].url: nowhere.invalid does not resolve here: "),
                    StartsWith("$.tracing.endpoint: nowhere.invalid does not resolve here: ")));
}

TEST(ConfigReview, FindsMoreMemoryThanThereIs) {
    EXPECT_THAT(lines(doubts_here(here(R"({"cache": {"memory": "63TiB"}})"))),
                ElementsAre(MatchesRegex("[$].cache.memory: is more than this machine has "
                                         "[(][0-9]+[.][0-9]GiB[)]")));
}

TEST(ConfigReview, FindsSecretsThatEverybodyCanRead) {
    namespace fs = std::filesystem;
    const TemporaryDirectory directory;
    const fs::path folder = directory.path(), file = folder / "hearsay.json",
                   key = folder / "key.pem";
    fs::permissions(folder, fs::perms(0755));
    for (const auto& each : {file, key}) {
        std::ofstream(each) << "x";
        fs::permissions(each, fs::perms(0644));
    }
    auto config = here("{}");
    config.tls = TlsConfig{{"127.0.0.1", 3443}, "cert.pem", key};
    const auto found = [&] { return lines(open_secrets(config, file, {"$.cluster.key"})); };
    EXPECT_THAT(found(), ElementsAre(StartsWith("$.tls.key: " + key.string() + " can be read"),
                                     StartsWith("$.cluster.key: stands in " + file.string())));
    EXPECT_THAT(lines(open_secrets(config, file, {})), SizeIs(1));
    config.tls->certificates = {{"other.pem", key}};
    EXPECT_THAT(lines(open_secrets(config, file, {})),
                ElementsAre(StartsWith("$.tls.key: "),
                            StartsWith("$.tls.certificates[0].key: " + key.string() + " can be")));
    config.tls->certificates.clear();
    fs::permissions(key, fs::perms(0640));
    EXPECT_THAT(found(), ElementsAre(StartsWith("$.cluster.key: ")));
    config.forward.authentication = AuthenticationConfig{key};
    fs::permissions(key, fs::perms(0644));
    config.tls.reset();
    EXPECT_THAT(lines(open_secrets(config, file, {})),
                ElementsAre(StartsWith("$.forward.authentication.users: " + key.string())));
    fs::permissions(folder, fs::perms(0750));
    EXPECT_THAT(found(), IsEmpty()) << "nobody else gets there";
}

TEST(ConfigReview, RefusesALogInAFolderThatIsNotThere) {
    const auto folder = std::filesystem::temp_directory_path();
    const auto access = [](const std::string& file) {
        auto config = here("{}");
        config.log.access = file;
        return lines(missing_files(config));
    };
    EXPECT_THAT(access("off"), IsEmpty());
    EXPECT_THAT(access("stdout"), IsEmpty());
    EXPECT_THAT(access((folder / "new.log").string()), IsEmpty());
    EXPECT_THAT(access("new.log"), IsEmpty());
    EXPECT_THAT(
        access((folder / "no-such-folder" / "x.log").string()),
        ElementsAre("$.log.access: there is no folder " + (folder / "no-such-folder").string()));
    EXPECT_THAT(access(folder.string()), ElementsAre(HasSubstr("is a folder, not a file")));
}

TEST(ConfigReview, RefusesALogThatThisUserCannotWrite) {
    const TemporaryDirectory directory;
    const auto& folder = directory.path();
    std::ofstream(folder / "old.log") << "a line\n";
    using std::filesystem::perms;
    std::filesystem::permissions(folder / "old.log", perms::owner_read | perms::others_read);
    std::filesystem::permissions(
        folder, perms::owner_read | perms::owner_exec | perms::others_read | perms::others_exec);
    constexpr uid_t kNobody = 65534;
    const auto root = ::geteuid() == 0;  // who may write everywhere
    if (root) {
        ASSERT_EQ(::seteuid(kNobody), 0);
    }
    std::vector<std::string> found;
    for (const auto* name : {"new.log", "old.log"}) {
        auto config = here("{}");
        config.log.access = (folder / name).string();
        for (auto& line : lines(missing_files(config))) found.push_back(std::move(line));
    }
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    std::filesystem::permissions(folder, perms::owner_all);
    EXPECT_THAT(found, ElementsAre(AllOf(StartsWith("$.log.access: cannot write "),
                                         HasSubstr("new.log: Permission denied")),
                                   HasSubstr("old.log: Permission denied")));
}

TEST(LoadSettings, NeedsNothingButThePlaceOfTheAdminPort) {
    const TemporaryDirectory folder;
    const auto file = folder.path() / "node.json";
    const auto load = [&](const std::string& text) {
        std::ofstream(file) << text;
        return load_settings(file, [](const std::string&) { return std::nullopt; });
    };
    const auto unset = load(R"({"node": "a", "listen": "0.0.0.0:3128", "admin": {"listen": "h:7"},
        "tls": {"listen": "h:3", "certificate": "${CERT}", "key": "${TLS_KEY}"},
        "cluster": {"key": "${KEY}", "listen": "${LINK}", "peers": []}, "log": {"access": "/nowhere/x"}})");
    EXPECT_TRUE(unset.config) << describe(unset.errors);
    EXPECT_FALSE(load(R"({"admin": {"listen": "${ADMIN}"}})").config);
    EXPECT_FALSE(load("{").config);
}

}  // namespace config_review_test
}  // namespace proxy
