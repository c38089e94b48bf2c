#include "proxy/config/config.hpp"
#include "proxy/config/config_certificates.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_destinations.hpp"
#include "proxy/config/config_json.hpp"
#include "proxy/config/parse_config.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace proxy {
namespace config_test {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const std::string kKey(32, 'k'), kToken = "0123456789.abcdef==";

Environment environment(std::map<std::string, std::string> variables) {
    return [variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

/// A valid file, apart from the text that `more` puts before its end.
std::string file(const std::string& more = "") {
    return R"({"node": "a", "listen": "127.0.0.1:3128",
               "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}])" +
           more + "}";
}

std::string cluster(const std::string& more) {
    return file(R"(, "cluster": {"key": ")" + kKey + R"(", "listen": "127.0.0.1:3129")" + more +
                "}");
}

/// With a key that only the environment knows.
std::string secret_cluster() {
    return file(R"(, "cluster": {"key": "${KEY}", "listen": "127.0.0.1:3129"})");
}

Config good(const std::string& text) {
    const auto result =
        parse_config(text, environment({{"KEY", kKey}, {"PORT", "3128"}, {"TOKEN", kToken}}));
    EXPECT_THAT(describe(result.errors), "");
    EXPECT_TRUE(result.config);
    return result.config.value_or(LoadedConfig());
}

std::vector<std::string> errors(const std::string& text) {
    const auto result = parse_config(text, environment({{"KEY", kKey}, {"SHORT", "x"}}));
    EXPECT_EQ(result.config.has_value(), result.errors.empty());
    std::vector<std::string> found;
    for (const auto& error : result.errors) found.push_back(error.path + ": " + error.message);
    return found;
}

TEST(Config, HasDefaultsForAllThatMayBeAbsent) {
    const auto c = good(file());
    EXPECT_EQ(c.node, "a");
    EXPECT_EQ(c.listen, (HostPort{"127.0.0.1", 3128}));
    EXPECT_EQ(c.workers, 1u);
    EXPECT_EQ(c.admin->listen, (HostPort{"127.0.0.1", 9128}));
    EXPECT_EQ(c.admin->token, "");
    EXPECT_EQ(c.admin->token_for, TokenFor::changes);
    EXPECT_THAT(c.clients.allow.texts(), ElementsAre("0.0.0.0/0", "::/0"));
    EXPECT_TRUE(c.clients.deny.empty());
    EXPECT_TRUE(c.clients.trusted_proxies.empty());
    EXPECT_FALSE(c.clients.proxy_protocol);
    EXPECT_EQ(c.forwarded.origins, ForwardedMode::append);
    EXPECT_EQ(c.forwarded.forward, ForwardedMode::off);
    EXPECT_EQ(c.forwarded.via, ViaMode::full);
    EXPECT_THAT(c.forwarded.drop,
                testing::IsSupersetOf({"X-Forwarded-Port", "X-Forwarded-Prefix", "X-Original-URL",
                                       "X-Rewrite-URL", "X-HTTP-Method-Override"}));
    EXPECT_THAT(c.protocols.upgrade, ElementsAre("websocket"));
    EXPECT_EQ(c.forward.private_destinations, Destinations::deny);
    EXPECT_FALSE(c.forward.enabled);
    EXPECT_EQ(c.cache.memory, 512u << 20);
    EXPECT_EQ(c.cache.object_max, 1024u << 20);
    EXPECT_EQ(c.cache.variants, 32u);
    EXPECT_FALSE(c.cluster);
    EXPECT_EQ(c.summary.kind, summary::Kind::counting_bloom);
    EXPECT_EQ(c.log.access, "off");
    EXPECT_TRUE(c.log.peers);
    EXPECT_FALSE(c.tracing);
    EXPECT_THAT(c.clients.purge.texts(), ElementsAre("127.0.0.0/8", "::1"));
    EXPECT_EQ(c.limits.request_line, 16u << 10);
    EXPECT_EQ(c.limits.head, 64u << 10);
    EXPECT_EQ(c.limits.body_windows, 128u << 20);
    EXPECT_EQ(c.limits.client_rate_min, 500u);
    EXPECT_EQ(c.timeouts.tunnel_idle, 10min);
    EXPECT_EQ(c.timeouts.drain, 10s);
    EXPECT_EQ(c.timeouts.drain_grace, 1s);
}

TEST(Config, ReadsTheUrlOfACollector) {
    const auto url = [](const std::string& text) {
        return good(file(R"(, "tracing": {"endpoint": ")" + text + "\"}")).tracing->endpoint;
    };
    EXPECT_EQ(url("http://127.0.0.1:4318").path, "/v1/traces");
    EXPECT_EQ(url("http://127.0.0.1:4318/").path, "/v1/traces");
    EXPECT_EQ(url("http://c/otlp/v1/traces").path, "/otlp/v1/traces");
    EXPECT_EQ(url("http://c?k=v").path, "/?k=v");
    EXPECT_EQ(url("http://c").place.port, 80);
    EXPECT_EQ(url("HTTPS://c").place.port, 443);
    EXPECT_EQ(url("http://[::1]:4318/x").place, (HostPort{"::1", 4318}));
    EXPECT_EQ(url("http://[::1]:4318/x").authority, "[::1]:4318");
    EXPECT_FALSE(url("http://c").tls);
}

TEST(Config, ReadsEverySection) {
    const auto c = good(R"({
        "$schema": "x", "node": "a", "listen": "[::1]:3128", "workers": 4,
        "admin": {"listen": "0.0.0.0:9000", "token": "${TOKEN}", "token_for": "all", "names": ["Node-A"],
                  "top_urls": "whole", "top_clients": true},
        "clients": {"allow": ["10.0.0.0/8"], "deny": ["10.9.0.0/16"], "trusted_proxies": ["10.0.0.7"],
                    "proxy_protocol": true,
                    "limits": {"per_address": {"requests": 1, "burst": 2, "connections": 3, "bandwidth": "4KiB"},
                               "per_user": {"requests": 5, "burst": 6, "connections": 7, "bandwidth": 8000}}},
        "forward": {"enabled": true, "connect_ports": [443, 8443], "private_destinations": "allow",
                    "authentication": {"users": "/u", "realm": "r", "in_clear": true},
                    "destinations": {"allow": ["*.A", "b:80"], "deny": ["[0::1]:25"]},
                    "intercept": {"hosts": ["*.A", "b"], "ports": [8443],
                                  "ca": {"certificate": "/ca.pem", "key": "/ca-key.pem"}},
                    "clients": ["10.1.0.0/16"], "blocklist_folder": "/var/tmp",
                    "blocklists": [{"path": "/l", "format": "hosts"},
                                   {"path": "/${TOKEN}", "format": "urls", "action": "log"}]},
        "forwarded": {"origins": "off", "forward": "replace", "via": "pseudonym", "drop": ["X-A"]}, "upgrade": ["WebSocket", "x"],
        "origins": [{"host": "WWW.Example.org", "url": "http://o.example"},
                    {"host": "*", "url": "http://[::1]:8000/"}],
        "cache": {"memory": "2GiB", "object_max": 1000, "variants": 7, "store_set_cookie": true, "client_directives": "shield",
                  "cdn_cache_control": false, "stale_when_unreachable": 0,
                  "heuristic": {"fraction": 0.2, "maximum": "1h"}},
        "cluster": {"key": "${KEY}", "listen": "0.0.0.0:3129", "copy": "second_use", "bandwidth": "2MiB",
                    "heartbeat": 0.1, "gone_after": "1s",
                    "peers": [{"node": "b", "http": "b:3128", "link": "b:3129"}]},
        "summary": {"kind": "counting_bloom", "false_hit_budget": 0.01,
                    "announce": {"changed": 1, "delay": "250ms"}},
        "log": {"level": "debug", "access": "/var/log/x", "format": "squid"},
        "tracing": {"endpoint": "https://Otel.example/v1/traces?x", "sample_ratio": 0.5,
                    "trusted": ["10.0.0.0/8"], "service_name": "edge"},
        "purge": {"allow": ["10.0.0.0/8", "fd00::1"]},
        "limits": {"request_line": "8KiB", "head": "32KiB", "connections": 10,
                   "upstream_connections": 3, "body_windows": "1GiB", "client_rate_min": "2KB"},
        "timeouts": {"client_head": "1s", "keep_alive": "2s", "origin_connect": "3s", "origin_head": "4s",
                     "origin_idle": "5s", "body_idle": "6s", "tunnel_idle": "7s", "drain": 0,
                     "drain_grace": "8s"}})");
    EXPECT_EQ(c.listen, (HostPort{"::1", 3128}));
    EXPECT_EQ(c.listen.text(), "[::1]:3128");
    EXPECT_EQ(c.workers, 4u);
    EXPECT_EQ(c.admin->listen.text(), "0.0.0.0:9000");
    EXPECT_EQ(c.admin->token, kToken);
    EXPECT_EQ(c.admin->token_for, TokenFor::all);
    EXPECT_THAT(c.admin->names, ElementsAre("node-a"));
    EXPECT_EQ(c.admin->top_urls, TopUrls::whole);
    EXPECT_TRUE(c.admin->top_clients);
    EXPECT_THAT(c.clients.allow.texts(), ElementsAre("10.0.0.0/8"));
    EXPECT_THAT(c.clients.deny.texts(), ElementsAre("10.9.0.0/16"));
    EXPECT_THAT(c.clients.trusted_proxies.texts(), ElementsAre("10.0.0.7"));
    EXPECT_TRUE(c.clients.proxy_protocol);
    EXPECT_EQ(c.clients.limits.per_address.requests, 1u);
    EXPECT_EQ(c.clients.limits.per_address.burst, 2u);
    EXPECT_EQ(c.clients.limits.per_address.connections, 3u);
    EXPECT_EQ(c.clients.limits.per_address.bandwidth, 4096u);
    EXPECT_EQ(c.clients.limits.per_user.requests, 5u);
    EXPECT_EQ(c.clients.limits.per_user.burst, 6u);
    EXPECT_EQ(c.clients.limits.per_user.connections, 7u);
    EXPECT_EQ(c.clients.limits.per_user.bandwidth, 8000u);
    EXPECT_EQ(c.forward.authentication->users, "/u");
    EXPECT_EQ(c.forward.authentication->realm, "r");
    EXPECT_TRUE(c.forward.authentication->in_clear);
    EXPECT_THAT(texts_of_patterns(c.forward.destinations.allow), ElementsAre("*.A", "b:80"));
    EXPECT_EQ(c.forward.destinations.allow[0].host.text(), "*.a");
    EXPECT_EQ(c.forward.destinations.deny[0].host.text(), "::1");
    EXPECT_EQ(c.forward.destinations.deny[0].port, 25);
    EXPECT_THAT(texts_of_patterns(c.forward.intercept->hosts), ElementsAre("*.A", "b"));
    EXPECT_THAT(c.forward.intercept->ports, ElementsAre(8443));
    EXPECT_EQ(c.forward.intercept->ca.certificate, "/ca.pem");
    EXPECT_EQ(c.forward.intercept->ca.key, "/ca-key.pem");
    EXPECT_THAT(c.forward.clients.texts(), ElementsAre("10.1.0.0/16"));
    EXPECT_EQ(c.forwarded.origins, ForwardedMode::off);
    EXPECT_EQ(c.forwarded.forward, ForwardedMode::replace);
    EXPECT_EQ(c.forwarded.via, ViaMode::pseudonym);
    EXPECT_THAT(c.forwarded.drop, ElementsAre("X-A"));
    EXPECT_THAT(c.protocols.upgrade, ElementsAre("websocket", "x"));
    EXPECT_TRUE(c.forward.enabled);
    EXPECT_THAT(c.forward.connect_ports, ElementsAre(443, 8443));
    EXPECT_EQ(c.forward.private_destinations, Destinations::allow);
    EXPECT_THAT(c.forward.blocklists,
                ElementsAre(BlocklistConfig{"/l", BlocklistFormat::hosts},
                            BlocklistConfig{"/" + std::string(kToken), BlocklistFormat::urls,
                                            BlocklistAction::log}));
    EXPECT_EQ(c.forward.blocklist_folder, "/var/tmp");
    ASSERT_EQ(c.origins.size(), 2u);
    EXPECT_EQ(c.origins[0].host, "www.example.org");
    EXPECT_EQ(c.origins[0].server, (HostPort{"o.example", 80}));
    EXPECT_EQ(c.origins[1].server, (HostPort{"::1", 8000}));
    EXPECT_EQ(c.cache.memory, 2ull << 30);
    EXPECT_EQ(c.cache.object_max, 1000u);
    EXPECT_EQ(c.cache.variants, 7u);
    EXPECT_TRUE(c.cache.rules.store_set_cookie);
    EXPECT_FALSE(c.cache.rules.cdn_cache_control);
    EXPECT_EQ(c.cache.rules.stale_when_unreachable, 0s);
    EXPECT_EQ(c.cache.rules.heuristic_fraction, 0.2);
    EXPECT_EQ(c.cache.rules.heuristic_maximum, 1h);
    EXPECT_EQ(c.cache.client_directives, ClientDirectives::shield);
    ASSERT_TRUE(c.cluster);
    EXPECT_THAT(c.cluster->keys, ElementsAre(kKey));
    EXPECT_EQ(c.cluster->copy, CopyPolicy::second_use);
    EXPECT_EQ(c.cluster->bandwidth, 2u << 20);
    EXPECT_EQ(c.cluster->heartbeat, 100ms);
    EXPECT_EQ(c.cluster->gone_after, 1s);
    ASSERT_EQ(c.cluster->peers.size(), 1u);
    EXPECT_EQ(c.cluster->peers[0].link, (HostPort{"b", 3129}));
    EXPECT_EQ(c.summary.false_hit_budget, 0.01);
    EXPECT_EQ(c.summary.announce.changed, 1.0);
    EXPECT_EQ(c.summary.announce.delay, 250ms);
    EXPECT_EQ(c.log.level, LogLevel::debug);
    EXPECT_EQ(c.log.access, "/var/log/x");
    EXPECT_EQ(c.log.format, AccessFormat::squid);
    EXPECT_FALSE(c.log.peers);  // left out of this format unless it is asked for
    ASSERT_TRUE(c.tracing);
    EXPECT_EQ(c.tracing->endpoint.place, (HostPort{"otel.example", 443}));
    EXPECT_EQ(c.tracing->endpoint.authority, "otel.example");
    EXPECT_EQ(c.tracing->endpoint.path, "/v1/traces?x");
    EXPECT_TRUE(c.tracing->endpoint.tls);
    EXPECT_EQ(c.tracing->sample_ratio, 0.5);
    EXPECT_THAT(c.tracing->trusted.texts(), ElementsAre("10.0.0.0/8"));
    EXPECT_EQ(c.tracing->service_name, "edge");
    EXPECT_THAT(c.clients.purge.texts(), ElementsAre("10.0.0.0/8", "fd00::1"));
    EXPECT_EQ(c.limits.body_windows, 1u << 30);
    EXPECT_EQ(c.limits.client_rate_min, 2000u);
    EXPECT_EQ(c.timeouts.client_head, 1s);
    EXPECT_EQ(c.timeouts.body_idle, 6s);
    EXPECT_EQ(c.timeouts.tunnel_idle, 7s);
    EXPECT_EQ(c.timeouts.drain, 0s);
    EXPECT_EQ(c.timeouts.drain_grace, 8s);
}

TEST(Config, NamesAnUnknownKeyByPathAndTheNearestKnown) {
    EXPECT_THAT(errors(file(R"(, "cache": {"memry": "1GiB"})")),
                ElementsAre("$.cache.memry: unknown key; did you mean \"memory\"?"));
    EXPECT_THAT(errors(file(R"(, "wrokers": 2)")),
                ElementsAre("$.wrokers: unknown key; did you mean \"workers\"?"));
    EXPECT_THAT(errors(file(R"(, "xyzzy": 2)")), ElementsAre("$.xyzzy: unknown key"));
    EXPECT_THAT(errors(file(R"(, "limits": { "body_window": "1MiB" })")),
                ElementsAre("$.limits.body_window: is no setting any more, because one value "
                            "suits every node: remove it"));
    EXPECT_THAT(errors(file(R"(, "disk": {})")),
                ElementsAre("$.disk: unknown key; did you mean \"$.cache.disk\"?"));
    EXPECT_THAT(errors(file(R"(, "false_hit_budget": 0.1)")),
                ElementsAre("$.false_hit_budget: unknown key; did you mean "
                            "\"$.summary.false_hit_budget\"?"));
    EXPECT_THAT(errors(file(R"(, "log": {"level": "warning"})")),
                ElementsAre(EndsWith("; did you mean \"warn\"?")));
    EXPECT_THAT(
        errors(cluster(R"(, "peers": [{"node": "b", "http": "b:1", "lnk": "b:2"}])")),
        UnorderedElementsAre("$.cluster.peers[0].link: missing",
                             "$.cluster.peers[0].lnk: unknown key; did you mean \"link\"?"));
}

TEST(Config, NamesThePlacesOfAKeyThatStandsElsewhere) {
    EXPECT_THAT(errors(file(R"(, "peers": [])")),
                ElementsAre("$.peers: unknown key; did you mean \"$.cluster.peers\" or "
                            "\"$.log.peers\"?"));
    EXPECT_THAT(errors(file(R"(, "allow": [])")),
                ElementsAre(AllOf(HasSubstr("\"$.clients.allow\""), HasSubstr(", \"$."),
                                  HasSubstr("\" or \"$."))));
    EXPECT_THAT(errors(file(R"(, "forward": {"enabled": true, "allow": []})")),
                ElementsAre(StartsWith("$.forward.allow: unknown key; did you mean "
                                       "\"$.forward.destinations.allow\", \"")))
        << "the same section comes first";
}

TEST(Config, NamesASimilarKeyBeforeAMemberOfAnotherList) {
    EXPECT_THAT(errors(file(R"(, "rules": [{"name": "a", "match": {"host": ["b"]}}])")),
                Contains("$.rules[0].match.host: unknown key; did you mean \"hosts\"?"));
    EXPECT_THAT(errors(file(R"(, "rules": [{"name": "a", "host": "b"}])")),
                Contains("$.rules[0].host: unknown key; did you mean \"$.rules[].match.hosts\"?"));
}

TEST(Config, KnowsWordsOfOtherPrograms) {
    EXPECT_THAT(errors(file(R"(, "upstream": [])")),
                ElementsAre("$.upstream: unknown key; did you mean \"$.origins[].upstreams\"?"));
    EXPECT_THAT(errors(file(R"(, "port": 1)")),
                ElementsAre("$.port: unknown key; did you mean \"listen\"?"));
    EXPECT_THAT(errors(file(R"(, "cache": {"port": 1})")), ElementsAre("$.cache.port: unknown key"))
        << "too many places have `listen`";
    EXPECT_THAT(errors(file(R"(, "rules": [{"name": "a", "ttl": "1h"}])")),
                Contains("$.rules[0].ttl: unknown key; did you mean \"fresh_for\"?"));
    EXPECT_THAT(errors(cluster(R"(, "secret": "x", "nodes": [])")),
                IsSupersetOf({"$.cluster.secret: unknown key; did you mean \"key\"?",
                              "$.cluster.nodes: unknown key; did you mean \"peers\"?"}));
}

TEST(Config, QuotesKeysThatCouldGarbleTheMessage) {
    EXPECT_THAT(errors(file(R"(, "a\nb \u00e4": 1)")),
                ElementsAre("$[\"a\\nb \\u00e4\"]: unknown key"));
}

TEST(Config, ReportsEveryProblemAtOnce) {
    const auto found = errors(R"({"listen": "nowhere", "workers": 0, "cache": {"memory": "lots"},
        "log": {"format": "jsno", "acess": "off"}, "timeouts": {"drain": "-1s"}, "typo": 1})");
    EXPECT_THAT(found, ElementsAre(HasSubstr("$.listen: is no host:port"),
                                   HasSubstr("$.workers: must be a whole number from 1 to 256"),
                                   HasSubstr("$.cache.memory: \"lots\" is no size"),
                                   HasSubstr("$.log.format: must be one of \"json\", \"squid\", "
                                             "\"combined\"; did you mean \"json\"?"),
                                   HasSubstr("$.log.acess: unknown key; did you mean \"access\"?"),
                                   HasSubstr("$.timeouts.drain: \"-1s\" is no duration"),
                                   HasSubstr("$.typo: unknown key"),
                                   HasSubstr("$: there is nothing to serve")));
}

TEST(Config, SaysWhichTypeItWanted) {
    EXPECT_THAT(errors("[]"), ElementsAre("$: must be an object, not an array"));
    EXPECT_THAT(errors(file(R"(, "cache": 5)")),
                ElementsAre("$.cache: must be an object, not a number"));
    EXPECT_THAT(errors(file(R"(, "workers": "2")")),
                ElementsAre("$.workers: must be a whole number, not a string"));
    EXPECT_THAT(errors(file(R"(, "forward": {"enabled": "yes"})")),
                ElementsAre("$.forward.enabled: must be true or false, not a string"));
    EXPECT_THAT(errors(file(R"(, "log": {"access": false})")),
                ElementsAre("$.log.access: must be a string, not a boolean"));
    EXPECT_THAT(errors(cluster(R"(, "peers": {})")),
                ElementsAre("$.cluster.peers: must be an array, not an object"));
    EXPECT_THAT(errors(cluster(R"(, "peers": ["b"])")),
                Contains("$.cluster.peers[0]: must be an object, not a string"));
    EXPECT_THAT(errors(file(R"(, "summary": {"false_hit_budget": null})")),
                ElementsAre("$.summary.false_hit_budget: must be a number, not null"));
    EXPECT_THAT(errors(file(R"(, "timeouts": {"drain": true})")),
                ElementsAre("$.timeouts.drain: must be a string, not a boolean"));
}

TEST(Config, GivesLineAndColumnOfASyntaxError) {
    const auto found = errors("{\n  \"node\": \"a\",\n  \"listen\": }\n");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0], testing::StartsWith("$: line 3, column 13: "));
    EXPECT_THAT(errors(""), ElementsAre(HasSubstr("$: line 1, column 1: ")));
    EXPECT_THAT(errors("{\"a\": 1e999}"), ElementsAre(HasSubstr("$: ")));
    EXPECT_THAT(errors("{\"a\": \"\xff\"}"), ElementsAre(HasSubstr("$: line 1")));
    EXPECT_THAT(errors(file() + "x"), ElementsAre(HasSubstr("$: line ")));
}

TEST(Config, RefusesFromTheEnvironmentWhatIsNoUtf8ButForSecrets) {
    const auto with = [](const std::string& text) {
        return parse_config(text, environment({{"KEY", std::string(32, '\xff')}, {"BAD", "\xe4"}}));
    };
    const auto bad = with(file(R"(, "log": {"access": "/var/log/${BAD}"})"));
    ASSERT_EQ(bad.errors.size(), 1u);
    EXPECT_EQ(bad.errors[0].path, "$.log.access");
    EXPECT_EQ(bad.errors[0].message, "holds a byte that is no UTF-8");
    EXPECT_EQ(describe(with(secret_cluster()).errors), "");
}

TEST(Config, IsShownWhateverBytesAPathHas) {
    Config config;
    config.log.access = "/var/log/\xe4";
    EXPECT_THAT(effective_config(config), HasSubstr("/var/log/\xef\xbf\xbd"));
    auto other = config;
    other.log.access = "/var/log/\xf6";
    EXPECT_THAT(changed_settings(config, other), ElementsAre("$.log.access"));
}

TEST(Config, KnowsWhichSecretsItsTextShows) {
    const auto variables = environment({{"KEY", kKey}});
    EXPECT_THAT(parse_config(secret_cluster(), variables).written_secrets, IsEmpty());
    EXPECT_THAT(parse_config(cluster(R"(}, "admin": {"token": "0123456789abcdef")"), variables)
                    .written_secrets,
                UnorderedElementsAre("$.admin.token", "$.cluster.key"));
}

TEST(Config, RefusesAKeyThatStandsTwice) {
    EXPECT_THAT(errors(file(R"(, "workers": 1, "workers": 2)")),
                ElementsAre("$.workers: stands twice in one object"));
    EXPECT_THAT(errors(cluster(R"(, "peers": [{"node": "b", "http": "b:1", "link": "b:2"},
                                             {"node": "c", "http": "c:1", "link": "c:2"}])")),
                IsEmpty());
}

TEST(Config, TellsOnlyChangesOfTheText) {
    const auto changes = [](const std::string& from, const std::string& to) {
        const auto variables = environment({{"KEY", kKey}});
        const auto was = parse_config(file(from), variables),
                   is = parse_config(file(to), variables);
        EXPECT_EQ(describe(was.errors) + describe(is.errors), "");
        return logged_changes(*was.config, *is.config, changed_settings(*was.config, *is.config));
    };
    EXPECT_THAT(changes(R"(, "cache": {"memory": "512MiB"})", R"(, "cache": {"memory": "64MiB"})"),
                ElementsAre("$.cache.memory"))
        << "slice_from follows";
    EXPECT_THAT(changes(R"(, "cache": {"memory": "512MiB", "slice_from": "64MiB"})",
                        R"(, "cache": {"memory": "64MiB", "slice_from": "64MiB"})"),
                ElementsAre("$.cache.memory"));
    EXPECT_THAT(changes("", R"(, "limits": {"connections": 100})"),
                ElementsAre("$.limits.connections"));
    EXPECT_THAT(changes(R"(, "log": {"format": "squid"})", ""), ElementsAre("$.log.format"));
}

TEST(Config, ExpandsTheEnvironmentInStrings) {
    const auto c = good(R"({"node": "n-${PORT}", "listen": "127.0.0.1:${PORT}",
                            "forward": {"enabled": true}, "log": {"access": "$${x} $5 ${KEY}"}})");
    EXPECT_EQ(c.node, "n-3128");
    EXPECT_EQ(c.listen.port, 3128);
    EXPECT_EQ(c.log.access, "${x} $5 " + kKey);
}

TEST(Config, ReportsVariablesThatAreNotSetOrMalformed) {
    EXPECT_THAT(
        errors(file(R"(, "log": {"access": "${NOT_SET}"})")),
        ElementsAre("$.log.access: environment variable NOT_SET is not set: export it, or put "
                    "it into the service's file of environment variables"));
    for (const char* text : {"${", "${}", "${A B}", "${1}", "x${KEY", "${KEY:-x}"}) {
        EXPECT_THAT(errors(file(R"(, "log": {"access": ")" + std::string(text) + "\"}")),
                    ElementsAre(HasSubstr("$.log.access: malformed ${NAME}")))
            << text;
    }
}

TEST(Config, NeedsSomethingToServe) {
    const std::string start = R"({"node": "a", "listen": "127.0.0.1:3128")";
    EXPECT_THAT(errors(start + "}"), ElementsAre(HasSubstr("$: there is nothing to serve")));
    EXPECT_THAT(errors(start + R"(, "origins": []})"), ElementsAre(HasSubstr("nothing to serve")));
    EXPECT_THAT(errors(start + R"(, "forward": {"enabled": true}})"), IsEmpty());
    EXPECT_THAT(errors(start + R"(, "forward": {"enabled": "yes"}})"),
                ElementsAre(HasSubstr("$.forward.enabled: must be true or false")))
        << "whether there is something to serve is not known then";
}

TEST(Config, KnowsThreeKindsOfSummaries) {
    for (const std::string kind : {"counting_bloom", "quotient", "cuckoo"}) {
        const auto config = good(file(R"(, "summary": {"kind": ")" + kind + R"("})"));
        EXPECT_EQ(name(config.summary.kind), kind);
    }
    EXPECT_THAT(
        errors(file(R"(, "summary": {"kind": "bloom"})")),
        ElementsAre("$.summary.kind: must be one of \"counting_bloom\", \"quotient\", \"cuckoo\""));
    EXPECT_THAT(
        errors(file(R"(, "summary": {"kind": "cuckkoo"})")),
        ElementsAre("$.summary.kind: must be one of \"counting_bloom\", \"quotient\", \"cuckoo\"; "
                    "did you mean \"cuckoo\"?"));
}

TEST(Config, ReadsWhatTlsNeeds) {
    const auto c = good(R"({"node": "a", "listen": "a:1",
        "tls": {"listen": "a:2", "certificate": "/c.pem", "key": "/k.pem"},
        "origins": [{"host": "a", "url": "https://o"}, {"host": "b", "url": "http://o"},
                    {"host": "*", "url": "HTTPS://[::1]:8443/",
                     "tls": {"verify": false, "ca": "/ca", "name": "n.example"}}]})");
    ASSERT_TRUE(c.tls);
    EXPECT_EQ(c.tls->listen, (HostPort{"a", 2}));
    EXPECT_EQ(c.tls->certificate, "/c.pem");
    EXPECT_EQ(c.tls->key, "/k.pem");
    ASSERT_EQ(c.origins.size(), 3u);
    EXPECT_EQ(c.origins[0].server, (HostPort{"o", 443}));
    ASSERT_TRUE(c.origins[0].tls);
    EXPECT_TRUE(c.origins[0].tls->verify);
    EXPECT_EQ(c.origins[0].tls->ca, "");
    EXPECT_EQ(c.origins[0].tls->name, "");
    EXPECT_FALSE(c.origins[1].tls);
    EXPECT_EQ(c.origins[2].server, (HostPort{"::1", 8443}));
    EXPECT_FALSE(c.origins[2].tls->verify);
    EXPECT_EQ(c.origins[2].tls->ca, "/ca");
    EXPECT_EQ(c.origins[2].tls->name, "n.example");
    const auto text = effective_config(c);
    EXPECT_EQ(effective_config(good(text)), text);
}

std::string with_origin(std::string_view members) {
    return R"({"node": "a", "listen": "a:1", "origins": [{"host": "*", )" + std::string(members) +
           "}]}";
}

TEST(Config, ReadsGroupsOfServers) {
    const auto c = good(with_origin(R"("path": "/api", "upstreams": [
        {"url": "https://one"}, {"url": "https://[::1]:8443", "weight": 7, "backup": true}],
        "balance": "least_in_flight", "slow_start": "30s", "tls": {"ca": "/ca"},
        "health": {"path": "/up?q", "every": "1s", "expect": [200, "3xx", "400-404"]})"));
    ASSERT_EQ(c.origins.size(), 1u);
    EXPECT_EQ(c.origins[0].path, "/api");
    ASSERT_TRUE(c.origins[0].group);
    const auto& group = *c.origins[0].group;
    EXPECT_EQ(group.name, "*/api");
    ASSERT_EQ(group.servers.size(), 2u);
    EXPECT_EQ(group.servers[0].place, (HostPort{"one", 443}));
    EXPECT_EQ(group.servers[0].weight, 1u);
    EXPECT_EQ(group.servers[0].mark, mark_of_server("one:443"));
    EXPECT_EQ(group.servers[1].place, (HostPort{"::1", 8443}));
    EXPECT_EQ(group.servers[1].weight, 7u);
    EXPECT_TRUE(group.servers[1].backup);
    EXPECT_EQ(group.balance, Balance::least_in_flight);
    EXPECT_EQ(group.slow_start, 30s);
    EXPECT_EQ(group.health.every, 1s);
    EXPECT_EQ(group.health.timeout, 1s) << "not longer than the interval";
    for (const auto status : {200u, 300u, 399u, 400u, 404u})
        EXPECT_TRUE(group.health.expects(status)) << status;
    for (const auto status : {199u, 201u, 405u, 503u})
        EXPECT_FALSE(group.health.expects(status)) << status;
    ASSERT_TRUE(c.origins[0].tls);
    EXPECT_EQ(c.origins[0].tls->ca, "/ca");
    const auto text = effective_config(c);
    EXPECT_EQ(effective_config(good(text)), text);
    auto other = good(text);
    EXPECT_THAT(changed_settings(c, other), IsEmpty());
    other = good(with_origin(R"("path": "/api", "upstreams": [{"url": "https://one"}])"));
    EXPECT_THAT(changed_settings(c, other), ElementsAre("$.origins"));
}

TEST(Config, RefusesGroupsThatMakeNoSense) {
    const auto with = [](std::string_view members) { return errors(with_origin(members)); };
    EXPECT_THAT(with(R"("url": "http://o", "upstreams": [{"url": "http://o"}])"),
                ElementsAre("$.origins[0].url: give either url or upstreams, not both"));
    EXPECT_THAT(
        with(R"("url": "http://o", "balance": "rendezvous")"),
        ElementsAre("$.origins[0].balance: is for a group: give upstreams in place of url"));
    EXPECT_THAT(with(R"("upstreams": [])"),
                ElementsAre("$.origins[0].upstreams: must be 1 to 64 servers"));
    EXPECT_THAT(with(R"("upstreams": [{"url": "http://o"}, {"url": "http://O:80"}])"),
                ElementsAre("$.origins[0].upstreams[1].url: is the same server again"));
    EXPECT_THAT(with(R"("upstreams": [{"url": "http://o"}, {"url": "https://p"}])"),
                ElementsAre(HasSubstr("upstreams[1].url: must have the scheme of the first one")));
    EXPECT_THAT(with(R"("upstreams": [{"url": "http://o", "backup": true}])"),
                ElementsAre("$.origins[0].upstreams: must have a server that is no backup"));
    EXPECT_THAT(with(R"("upstreams": [{"url": "http://o"}], "health": {"path": "up"})"),
                ElementsAre("$.origins[0].health.path: must begin with / and have no spaces"));
    EXPECT_THAT(with(R"("upstreams": [{"url": "http://o"}], "health": {"path": "/",
                     "every": "1s", "timeout": "2s"})"),
                ElementsAre("$.origins[0].health.timeout: must be at most every"));
    for (const auto* expect : {"\"6xx\"", "99", "600", "\"300-200\"", "\"x\"", "\"200-\"", "null"})
        EXPECT_THAT(with(R"("upstreams": [{"url": "http://o"}], "health": {"path": "/",
                         "expect": [)" +
                         std::string(expect) + "]}"),
                    ElementsAre(HasSubstr("$.origins[0].health.expect[0]: must be a status")))
            << expect;
    for (const auto* path : {"api", "/a?b", "/a*", ""})
        EXPECT_THAT(with(R"("url": "http://o", "path": ")" + std::string(path) + "\""),
                    ElementsAre(HasSubstr("$.origins[0].path: must be the start of a path")))
            << path;
    EXPECT_THAT(with(R"("url": "http://o", "path": "/%61pi")"),
                ElementsAre("$.origins[0].path: never matches, as paths compare in normal form; "
                            "write /api"));
}

TEST(Config, WarnsOfWhatDecidesNothingWithOneServer) {
    const auto parsed = parse_config(
        with_origin(R"("upstreams": [{"url": "http://o", "weight": 3}], "balance": "rendezvous")"),
        {});
    ASSERT_THAT(parsed.errors, IsEmpty());
    EXPECT_THAT(
        parsed.warnings,
        testing::IsSupersetOf(
            {ConfigError{"$.origins[0].balance", "decides nothing with one server"},
             ConfigError{"$.origins[0].upstreams[0].weight", "decides nothing with one server"}}));
}

TEST(Config, ReadsParentProxiesAndNeverShowsTheirCredentials) {
    const auto with = [](std::string_view parents) {
        return file(R"(, "forward": {"enabled": true, "parent": )" + std::string(parents) + "}");
    };
    const auto c = good(with(R"(["http://p:3128", "http://us%3aer:p%40ss@[::1]:81/"])"));
    ASSERT_TRUE(c.forward.parents);
    const auto& parents = c.forward.parents->servers;
    ASSERT_EQ(parents.size(), 2u);
    EXPECT_EQ(parents[0].place, (HostPort{"p", 3128}));
    EXPECT_EQ(parents[0].credentials, "");
    EXPECT_EQ(parents[1].place, (HostPort{"::1", 81}));
    EXPECT_EQ(parents[1].credentials, "dXM6ZXI6cEBzcw==");  // us:er:p@ss
    const auto text = effective_config(c);
    EXPECT_THAT(text, HasSubstr("http://(secret)@[::1]:81"));
    EXPECT_THAT(text, Not(HasSubstr("p%40ss")));
    const auto secure = good(with(R"(["HTTPS://P:3128", "http://us%3aer:p%40ss@[::1]:81/"])"));
    EXPECT_TRUE(secure.forward.parents->servers[0].tls);
    EXPECT_FALSE(secure.forward.parents->servers[1].tls);
    EXPECT_THAT(effective_config(secure), HasSubstr("\"https://p:3128\""));
    EXPECT_THAT(changed_settings(c, secure), ElementsAre("$.forward.parent"));
    const auto other = good(with(R"(["http://p:3128", "http://us%3aer:else@[::1]:81/"])"));
    EXPECT_THAT(changed_settings(c, other), ElementsAre("$.forward.parent"));
    EXPECT_THAT(changed_settings(c, c), IsEmpty());
    for (const auto* bad :
         {"ftp://u:s3cret@p:3128", "http://us3cret@p:3128", "http://u:s3cret%@p:3128",
          "http://u:s3cret@p:3128/x", "http://u:s3cret%0a@p:3128", "http://u:s3cret@p"}) {
        const auto faults = errors(with("[\"" + std::string(bad) + "\"]"));
        ASSERT_EQ(faults.size(), 1u) << bad;
        EXPECT_THAT(faults[0], HasSubstr("$.forward.parent[0]: ")) << bad;
        EXPECT_THAT(faults[0], Not(HasSubstr("s3cret")));
    }
    EXPECT_THAT(errors(with(R"(["http://p:1", "http://P:1"])")),
                ElementsAre("$.forward.parent[1]: is the same proxy again"));
}

TEST(Config, ReadsTargetsThatNeedNoParent) {
    const auto c = good(file(
        R"(, "forward": {"no_proxy": ["*.Example.org", "10.0.0.0/8", "::1", "localhost", "a*.test"]})"));
    const auto& direct = c.forward.no_proxy;
    for (const auto* host :
         {"www.example.org", "a.b.example.org.", "10.1.2.3", "::1", "localhost", "abc.test"})
        EXPECT_TRUE(direct.contains(host)) << host;
    for (const auto* host : {"example.org", "badexample.org", "11.0.0.1", "::2", "localhost.x"})
        EXPECT_FALSE(direct.contains(host)) << host;
    const auto text = effective_config(c);
    EXPECT_EQ(effective_config(good(text)), text);
    EXPECT_THAT(errors(file(R"(, "forward": {"no_proxy": ["10.0.0.0/33", "http://x", ""]})")),
                ElementsAre(HasSubstr("$.forward.no_proxy[0]: must be a host, a glob"),
                            HasSubstr("$.forward.no_proxy[1]: must be"),
                            HasSubstr("$.forward.no_proxy[2]: must be")));
}

TEST(Config, ReadsSeveralCertificates) {
    const auto alone = good(file(R"(, "tls": {"listen": "a:2", "certificates": [
        {"certificate": "/1.pem", "key": "/1.key"}, {"certificate": "/2.pem", "key": "/2.key"}]})"));
    auto pairs = certificate_pairs(*alone.tls);
    ASSERT_EQ(pairs.size(), 2u);
    EXPECT_EQ(pairs[0].certificate, "/1.pem");
    EXPECT_EQ(pairs[1].key, "/2.key");
    EXPECT_EQ(certificate_setting(*alone.tls, 1), "$.tls.certificates[1]");

    const auto beside = good(file(R"(, "tls": {"listen": "a:2", "certificate": "/c", "key": "/k",
        "certificates": [{"certificate": "/1.pem", "key": "/1.key"}]})"));
    pairs = certificate_pairs(*beside.tls);
    ASSERT_EQ(pairs.size(), 2u);
    EXPECT_EQ(pairs[0].certificate, "/c");
    EXPECT_EQ(certificate_setting(*beside.tls, 0), "$.tls");
    EXPECT_EQ(certificate_setting(*beside.tls, 1), "$.tls.certificates[0]");
    for (const auto& config : {alone, beside}) {
        const auto text = effective_config(config);
        EXPECT_EQ(effective_config(good(text)), text);
    }
    EXPECT_THAT(changed_settings(alone, beside),
                UnorderedElementsAre("$.tls.certificate", "$.tls.key", "$.tls.certificates"));
}

TEST(Config, RefusesIncompleteCertificates) {
    const auto with = [](std::string_view members) {
        return errors(
            file(std::string(R"(, "tls": {"listen": "a:2")").append(members).append("}")));
    };
    EXPECT_THAT(with(""), UnorderedElementsAre("$.tls.certificate: missing", "$.tls.key: missing"));
    EXPECT_THAT(with(R"(, "certificates": [])"),
                UnorderedElementsAre("$.tls.certificate: missing", "$.tls.key: missing"));
    EXPECT_THAT(with(R"(, "key": "/k", "certificates": [{"certificate": "/1", "key": "/2"}])"),
                ElementsAre("$.tls.certificate: missing"));
    EXPECT_THAT(with(R"(, "certificates": {})"),
                ElementsAre("$.tls.certificates: must be an array, not an object"));
    EXPECT_THAT(
        with(R"(, "certificates": [{"certificate": ""}, {"key": "/k", "name": "a"}, 1])"),
        UnorderedElementsAre("$.tls.certificates[0].certificate: must be the path of a PEM file",
                             "$.tls.certificates[0].key: missing",
                             "$.tls.certificates[1].certificate: missing",
                             StartsWith("$.tls.certificates[1].name: unknown key"),
                             "$.tls.certificates[2]: must be an object, not a number"));
    EXPECT_THAT(with(R"(, "certificate": "/c", "key": "/k", "certificates": [
                        {"certificate": "/c", "key": "/k"}])"),
                ElementsAre("$.tls.certificates[0].certificate: is that of $.tls again"));
    std::string many;
    for (std::size_t i = 0; i <= kMaxCertificates; ++i)
        many += (i == 0 ? "" : ",") + std::string(R"({"certificate": "/)") + std::to_string(i) +
                R"(", "key": "/k"})";
    EXPECT_THAT(with(", \"certificates\": [" + many + "]"),
                ElementsAre("$.tls.certificates: must have at most 256 elements"));
}

TEST(Config, ShowsAccessRulesAsItReadsThem) {
    const auto with = good(file(R"(, "clients": {"limits": {"per_address": {"requests": 7}}},
        "forward": {"enabled": true, "authentication": {"users": "/u", "realm": "a \"b\""},
        "destinations": {"allow": ["*.A.test."], "deny": ["[0::1]:80"]}})"));
    const auto text = effective_config(with);
    EXPECT_EQ(effective_config(good(text)), text);
    auto other = with;
    other.forward.authentication.reset();
    other.clients.limits.per_address.requests = 8;
    other.forward.destinations.deny.clear();
    const auto changed = changed_settings(with, other);
    EXPECT_THAT(changed, testing::IsSupersetOf({"$.clients.limits.per_address.requests",
                                                "$.forward.destinations.deny"}));
    EXPECT_THAT(restart_only(with, other, changed), IsEmpty());
}

TEST(Config, RefusesAccessRulesThatMakeNoSense) {
    const auto forward = [](const std::string& more) {
        return errors(file(R"(, "forward": {"enabled": true, )" + more + "}"));
    };
    EXPECT_THAT(forward(R"("authentication": {"users": "relative"})"),
                ElementsAre("$.forward.authentication.users: must be an absolute path"));
    EXPECT_THAT(forward(R"("authentication": {"users": "/u", "realm": "a\nb"})"),
                ElementsAre("$.forward.authentication.realm: must be at most 128 printable "
                            "characters of ASCII"));
    EXPECT_THAT(forward(R"("authentication": {})"),
                ElementsAre("$.forward.authentication.users: missing"));
    EXPECT_THAT(
        errors(file(R"(, "clients": {"limits": {"per_user": {"bandwidth": 1000}}})")),
        ElementsAre("$.clients.limits.per_user.bandwidth: must be 0, which is no limit, or at "
                    "least 1KiB per second"));
}

TEST(Config, DoubtsAccessRulesWithoutAnEffect) {
    const auto warnings = [](const std::string& more) { return parse_config(file(more)).warnings; };
    EXPECT_THAT(
        warnings(R"(, "forward": {"authentication": {"users": "/u"},
                             "destinations": {"deny": ["a"]}})"),
        testing::IsSupersetOf({ConfigError{"$.forward.authentication",
                                           "has no effect, because forward.enabled is false"},
                               ConfigError{"$.forward.destinations",
                                           "has no effect, because forward.enabled is false"}}));
    EXPECT_THAT(warnings(R"(, "clients": {"limits": {"per_user": {"requests": 1}}})"),
                Contains(ConfigError{"$.clients.limits.per_user",
                                     "has no effect, because there are no users without "
                                     "forward.authentication"}));
    EXPECT_THAT(warnings(R"(, "clients": {"limits": {"per_address": {"burst": 1}}})"),
                Contains(ConfigError{"$.clients.limits.per_address.burst",
                                     "has no effect without requests"}));
}

TEST(Config, ShowsBlocklistsAsItReadsThem) {
    const auto with = good(file(R"(, "forward": {"enabled": true, "blocklist_folder": "/t",
        "blocklists": [{"path": "/a", "format": "domains", "action": "log"},
                       {"path": "/b", "format": "dstdomain"}]})"));
    const auto text = effective_config(with);
    EXPECT_EQ(effective_config(good(text)), text);
    auto other = with;
    other.forward.blocklists[1].action = BlocklistAction::log;
    EXPECT_THAT(changed_settings(with, other), ElementsAre("$.forward.blocklists"));
    EXPECT_THAT(restart_only(with, other, {"$.forward.blocklists"}), IsEmpty());
}

TEST(Config, RefusesBlocklistsThatMakeNoSense) {
    const auto with = [](std::string_view lists) {
        return errors(file(
            std::string(R"(, "forward": {"enabled": true, "blocklists": )").append(lists) + "}"));
    };
    EXPECT_THAT(
        with(R"([{"path": "relative", "format": "hosts"}, {"action": "refuse"},
                         {"path": "/a", "format": "adblock", "action": "allow", "x": 1}, "/a"])"),
        UnorderedElementsAre(
            "$.forward.blocklists[0].path: must be an absolute path",
            "$.forward.blocklists[1].path: missing", "$.forward.blocklists[1].format: missing",
            "$.forward.blocklists[2].format: must be one of \"hosts\", \"domains\", "
            "\"dstdomain\", \"urls\"",
            "$.forward.blocklists[2].action: must be one of \"refuse\", \"log\"",
            "$.forward.blocklists[2].x: unknown key",
            "$.forward.blocklists[3]: must be an object, not a string"));
    EXPECT_THAT(with(R"([{"path": "/a", "format": "hosts"}, {"path": "/a", "format": "urls"}])"),
                ElementsAre("$.forward.blocklists[1].path: is that of $.forward.blocklists[0] "
                            "again"));
    std::string many;
    for (std::size_t i = 0; i <= kMaxBlocklists; ++i)
        many += (i == 0 ? "" : ",") + std::string(R"({"path": "/)") + std::to_string(i) +
                R"(", "format": "hosts"})";
    EXPECT_THAT(with("[" + many + "]"),
                ElementsAre("$.forward.blocklists: must have at most 128 elements"));
    EXPECT_THAT(errors(file(R"(, "forward": {"enabled": true, "blocklist_folder": "tmp"})")),
                ElementsAre("$.forward.blocklist_folder: must be an absolute path"));
}

TEST(Config, DoubtsBlocklistsWithoutAForwardProxy) {
    const auto result =
        parse_config(file(R"(, "forward": {"blocklists": [{"path": "/a", "format": "hosts"}]})"));
    ASSERT_TRUE(result.config);
    EXPECT_THAT(result.warnings,
                Contains(ConfigError{"$.forward.blocklists",
                                     "is not read, because forward.enabled is false"}));
}

TEST(Config, RefusesTlsThatMakesNoSense) {
    const auto with = [](std::string_view more) {
        return errors(std::string(R"({"node": "a", "listen": "a:1", "origins": [{"host": "*", )")
                          .append(more)
                          .append("}]}"));
    };
    EXPECT_THAT(with(R"("url": "http://o", "tls": {})"),
                ElementsAre("$.origins[0].tls: is only for a url that begins with https://"));
    EXPECT_THAT(with(R"("url": "https://o", "tls": {"ca": "", "name": "a:1", "verfy": true})"),
                ElementsAre("$.origins[0].tls.ca: must be a file or a directory",
                            "$.origins[0].tls.name: must be a host name without a port",
                            "$.origins[0].tls.verfy: unknown key; did you mean \"verify\"?"));
    EXPECT_THAT(
        with(R"("url": "https://o/p")"),
        ElementsAre(
            "$.origins[0].url: must be http[s]://host or http[s]://host:port, without a path "
            "unless public is given"));
    EXPECT_THAT(errors(file(R"(, "tls": {"listen": "a:2", "key": ""})")),
                UnorderedElementsAre(HasSubstr("$.tls.certificate"),
                                     "$.tls.key: must be the path of a PEM file"));
}

TEST(Config, ChecksOrigins) {
    const auto origin = [](const std::string& host, const std::string& url) {
        return errors(R"({"node": "a", "listen": "a:1", "origins": [{"host": ")" + host +
                      R"(", "url": ")" + url + "\"}]}");
    };
    for (const char* host :
         {"", "a b", "a:80", "user@a", "*example", "a.*.example", "*.", "http://a"}) {
        EXPECT_THAT(origin(host, "http://o"),
                    ElementsAre(HasSubstr("$.origins[0].host: must be a host")))
            << host;
    }
    for (const char* url : {"", "o:80", "//o", "http://", "http://o/path", "http://o?q", "ftp://o",
                            "http://u@o", "http://o:x", "http://o:0", "/x"}) {
        EXPECT_THAT(origin("*", url),
                    ElementsAre(HasSubstr("$.origins[0].url: must be http[s]://host")))
            << url;
    }
    EXPECT_THAT(errors(R"({"node": "a", "listen": "a:1", "origins": [{}]})"),
                ElementsAre("$.origins[0].host: missing",
                            "$.origins[0].url: missing: give url or upstreams"));
}

TEST(Config, ChecksNodesAndEndpoints) {
    for (const std::string& node : {std::string(), std::string("a b"), std::string("a/b"),
                                    std::string("\xc3\xa4"), std::string(65, 'x')}) {
        EXPECT_THAT(
            errors(R"({"node": ")" + node + R"(", "listen": "a:1", "forward": {"enabled": true}})"),
            ElementsAre(HasSubstr("$.node: must be 1 to 64")))
            << node;
    }
    for (const char* listen :
         {"", "a", "a:", ":1", "::1:80", "[::1]", "[::1]:x", "u@a:1", "http://a:1", "a b:1"}) {
        EXPECT_THAT(errors(R"({"node": "a", "listen": ")" + std::string(listen) +
                           R"(", "forward": {"enabled": true}})"),
                    ElementsAre(HasSubstr("$.listen: is no host:port")))
            << listen;
    }
}

TEST(Config, ChecksNumbersAgainstTheirBounds) {
    for (const char* more : {R"("workers": 257)",
                             R"("workers": -1)",
                             R"("workers": 1.5)",
                             R"("cache": {"memory": "1KiB"})",
                             R"("cache": {"memory": 1.5})",
                             R"("cache": {"memory": "-1MiB"})",
                             R"("cache": {"memory": "99999999999TiB"})",
                             R"("limits": {"connections": 0})",
                             R"("limits": {"body_windows": "64KiB"})",
                             R"("limits": {"client_rate_min": "2GiB"})",
                             R"("limits": {"request_line": "128KiB"})",
                             R"("forward": {"connect_ports": [0]})",
                             R"("forward": {"connect_ports": [65536]})",
                             R"("forward": {"connect_ports": ["443"]})",
                             R"("forward": {"intercept": {"hosts": ["192.0.2.1"],
                                 "ca": {"certificate": "/c", "key": "/k"}}})",
                             R"("forward": {"intercept": {"hosts": ["a"], "ports": [0],
                                 "ca": {"certificate": "/c", "key": "/k"}}})",
                             R"("purge": {"allow": ["10.0.0.0/33"]})",
                             R"("purge": {"allow": ["localhost"]})",
                             R"("purge": {"allow": "10.0.0.1"})",
                             R"("clients": {"allow": ["everybody"]})",
                             R"("clients": {"deny": "10.0.0.1"})",
                             R"("clients": {"proxy_protocol": true})",
                             R"("forward": {"clients": [1]})",
                             R"("forward": {"private_destinations": ["10.0.0.0/33"]})",
                             R"("forward": {"private_destinations": "some"})",
                             R"("forwarded": {"origins": "add"})",
                             R"("forwarded": {"drop": ["X A"]})",
                             R"("forwarded": {"drop": "X-A"})",
                             R"("upgrade": ["web socket"])",
                             R"("upgrade": ["*"])",
                             R"("forwarded": {"drop": ["X-Forwarded-*"]})",
                             R"("upgrade": "websocket")",
                             R"("admin": {"token": "too short"})",
                             R"("admin": {"token": "sixteen and blanks"})",
                             R"("admin": {"token_for": "all"})",
                             R"("admin": {"names": ["a:9128"]})",
                             R"("admin": {"top_urls": "all"})",
                             R"("admin": {"top_clients": 5})",
                             R"("summary": {"false_hit_budget": 0})",
                             R"("summary": {"false_hit_budget": 0.6})",
                             R"("summary": {"announce": {"changed": 1.1}})",
                             R"("summary": {"announce": {"delay": 0}})",
                             R"("timeouts": {"keep_alive": "25h"})",
                             R"("timeouts": {"keep_alive": -1})",
                             R"("timeouts": {"keep_alive": "1"})",
                             R"("timeouts": {"keep_alive": "1 s"})",
                             R"("timeouts": {"keep_alive": "1e3s"})",
                             R"("log": {"access": ""})",
                             R"("tracing": {})",
                             R"("tracing": null)",
                             R"("tracing": {"endpoint": "127.0.0.1:4318"})",
                             R"("tracing": {"endpoint": "http://u:p@c:4318"})",
                             R"("tracing": {"endpoint": "http://c/#x"})",
                             R"("tracing": {"endpoint": "http://c/ x"})",
                             R"("tracing": {"endpoint": "http://:4318/"})",
                             R"("tracing": {"endpoint": "http://c", "sample_ratio": 0})",
                             R"("tracing": {"endpoint": "http://c", "sample_ratio": 1.1})",
                             R"("tracing": {"endpoint": "http://c", "service_name": ""})",
                             R"("cache": {"client_directives": "ignore"})",
                             R"("admin": {"listen": 9128})"}) {
        EXPECT_EQ(errors(file(std::string(", ") + more)).size(), 1u) << more;
    }
}

TEST(ClusterConfig, GivesPeersNoBandwidthBelowAKibibyte) {
    const auto with = [](const std::string& bandwidth) {
        return file(R"(, "cluster": {"key": "${KEY}", "listen": "127.0.0.1:3129", "bandwidth": )" +
                    bandwidth + "}");
    };
    EXPECT_EQ(good(with("\"1KiB\"")).cluster->bandwidth, 1024u);
    EXPECT_EQ(good(with("0")).cluster->bandwidth, 0u);
    EXPECT_THAT(errors(with("1023")),
                ElementsAre("$.cluster.bandwidth: must be 0, which is no limit, or at least 1KiB "
                            "per second"));
}

TEST(ClusterConfig, TakesOneKeyOrTwoWhileItChanges) {
    const std::string other(40, 'o');
    const auto with = [](const std::string& keys) {
        return file(R"(, "cluster": {)" + keys + R"(, "listen": "127.0.0.1:3129"})");
    };
    EXPECT_THAT(good(with(R"("keys": ["${KEY}", ")" + other + "\"]")).cluster->keys,
                ElementsAre(kKey, other));
    EXPECT_THAT(errors(with(R"("copy": "never")")), ElementsAre("$.cluster.key: missing"));
    EXPECT_THAT(errors(with(R"("keys": [])")),
                ElementsAre("$.cluster.keys: must be one or two keys"));
    EXPECT_THAT(errors(with(R"("key": "${KEY}", "keys": ["${KEY}"])")),
                ElementsAre("$.cluster.keys: give either key or keys, not both"));
    EXPECT_THAT(errors(with(R"("keys": ["${KEY}", "${KEY}"])")),
                ElementsAre("$.cluster.keys[1]: is the same key again"));
}

TEST(ClusterConfig, WantsALongKeyAndNeverShowsIt) {
    const auto found =
        errors(file(R"(, "cluster": {"key": "not-so-secret", "listen": "127.0.0.1:3129"})"));
    EXPECT_THAT(found, ElementsAre("$.cluster.key: must have at least 32 bytes, has 13"));
    EXPECT_THAT(errors(file(R"(, "cluster": {"key": "${SHORT}", "listen": "127.0.0.1:3129"})")),
                ElementsAre("$.cluster.key: must have at least 32 bytes, has 1"));
}

TEST(ClusterConfig, RefusesPeersThatCannotBeToldApart) {
    EXPECT_THAT(errors(cluster(R"(, "peers": [{"node": "b", "http": "b:1", "link": "b:2"},
                                             {"node": "b", "http": "c:1", "link": "c:2"}])")),
                ElementsAre("$.cluster.peers[1].node: another peer has this name"));
    EXPECT_THAT(errors(cluster(R"(, "peers": [{"node": "b", "http": "b:1", "link": "b:2"},
                                             {"node": "c", "http": "c:1", "link": "b:2"}])")),
                ElementsAre("$.cluster.peers[1].link: another peer has this address"));
}

TEST(ClusterConfig, TakesANodeThatListsItself) {
    EXPECT_THAT(errors(cluster(R"(, "peers": [{"node": "a", "http": "a:1", "link": "a:2"}])")),
                IsEmpty());
}

TEST(ClusterConfig, HasALimitOfPeers) {
    std::string peers;
    for (std::size_t i = 0; i < 256; ++i) {
        const auto n = std::to_string(i);
        peers += (i ? ", " : "") + std::string(R"({"node": "n)") + n + R"(", "http": "n)" + n +
                 R"(:1", "link": "n)" + n + R"(:2"})";
    }
    EXPECT_THAT(errors(cluster(R"(, "peers": [)" + peers + "]")), IsEmpty());
    EXPECT_THAT(
        errors(cluster(R"(, "peers": [)" + peers +
                       R"(, {"node": "x", "http": "x:1", "link": "x:2"}])")),
        ElementsAre("$.cluster.peers: must be at most 256 besides this node (cluster.max_peers, "
                    "1024 at most)"));
}

TEST(ClusterConfig, WaitsForAtLeastTwoHeartbeats) {
    EXPECT_THAT(errors(cluster(R"(, "heartbeat": "2s")")),
                ElementsAre("$.cluster.heartbeat: is 2s, and must be less than half of gone_after, "
                            "3s"));
    EXPECT_THAT(errors(cluster(R"(, "gone_after": "1500ms")")),
                ElementsAre("$.cluster.gone_after: is 1.5s, and must be more than twice the "
                            "heartbeat, 1s"));
}

TEST(ClusterConfig, OneMistakeIsOneError) {
    EXPECT_THAT(errors(file(R"(, "limits": {"head": "much", "request_line": "1MiB"})")),
                ElementsAre(HasSubstr("$.limits.head: ")));
    EXPECT_THAT(errors(R"({"node": "a", "listen": "127.0.0.1:3128", "origins": [
                           {"host": "*", "url": "https//x", "tls": {"verify": false}}]})"),
                ElementsAre(HasSubstr("$.origins[0].url: ")));
}

TEST(Config, ListsThePrivateDestinationsThatMayBeReached) {
    const auto c =
        good(file(R"(, "forward": {"private_destinations": ["10.1.0.0/16", "fd00::1"]})"));
    EXPECT_EQ(c.forward.private_destinations, Destinations::listed);
    EXPECT_THAT(c.forward.private_prefixes.texts(), ElementsAre("10.1.0.0/16", "fd00::1"));
    EXPECT_EQ(effective_config(good(effective_config(c))), effective_config(c));
}

TEST(Config, NeverShowsTheAdminToken) {
    const auto with = R"(, "admin": {"token": ")" + std::string(kToken) + R"("})";
    const auto text = effective_config(good(file(with)));
    EXPECT_THAT(text, HasSubstr("\"token\": \"(secret)\""));
    EXPECT_EQ(text.find(kToken), std::string::npos);
    for (const auto& error : errors(file(R"(, "admin": {"token": "not good: seventeen"})")))
        EXPECT_EQ(error.find("seventeen"), std::string::npos) << error;
}

TEST(Config, CanDoWithoutAnAdminPort) {
    EXPECT_FALSE(good(file(R"(, "admin": null)")).admin);
}

TEST(EffectiveConfig, ShowsDefaultsAndNoKeys) {
    const auto text = effective_config(
        good(cluster(R"(, "peers": [{"node": "b", "http": "[::1]:1", "link": "b:2"}])")));
    EXPECT_THAT(text, Not(HasSubstr(kKey)));
    EXPECT_THAT(text, HasSubstr("\"memory\": \"512MiB\""));
    EXPECT_THAT(text, HasSubstr("\"gone_after\": \"3s\""));
    EXPECT_THAT(text, HasSubstr("\"http\": \"[::1]:1\""));
}

TEST(EffectiveConfig, CanBeReadBack) {
    const auto first =
        good(file(R"(, "limits": {"head": 65537}, "timeouts": {"drain": 1.25}, "admin": null)"));
    const auto text = effective_config(first);
    const auto second = good(text);
    EXPECT_EQ(second.limits.head, 65537u);
    EXPECT_EQ(second.timeouts.drain, 1250ms);
    EXPECT_EQ(effective_config(second), text);
}

TEST(ReadConfig, SaysWhyAFileCannotBeRead) {
    const auto missing = read_config("/nonexistent/hearsay.json");
    EXPECT_THAT(describe(missing.errors),
                "cannot read /nonexistent/hearsay.json: No such file or directory\n");
    EXPECT_FALSE(read_config("/").config);
}

TEST(ReadConfig, ReadsAFileUpToItsLimit) {
    const auto path = std::filesystem::path(testing::TempDir()) / "hearsay_config_test.json";
    std::ofstream(path) << file();
    EXPECT_TRUE(read_config(path).config);
    std::ofstream(path) << std::string(kMaxConfigBytes, ' ') << file();
    EXPECT_THAT(describe(read_config(path).errors), HasSubstr("larger than 1MiB"));
    std::filesystem::remove(path);
}

}  // namespace config_test
}  // namespace proxy
