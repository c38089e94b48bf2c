// The published JSON Schema and the parser are two descriptions of one thing; here they meet.

#include "proxy/config/config.hpp"
#include "proxy/config/config_json.hpp"
#include "proxy/config/parse_config.hpp"
#include "tests/source_root.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace proxy {
namespace schema_test {

using nlohmann::json;

const std::filesystem::path kConfigs = tests::source_root(__FILE__) / "configs";

std::string read(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_TRUE(in) << file;
    return text.str();
}

bool schema_accepts(const json& config) {
    static const auto schema = [] {
        auto parsed = std::make_unique<valijson::Schema>();
        const auto document = json::parse(read(kConfigs / "hearsay.schema.json"));
        valijson::SchemaParser parser;
        parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), *parsed);
        return parsed;
    }();
    valijson::Validator validator;
    return validator.validate(*schema, valijson::adapters::NlohmannJsonAdapter(config), nullptr);
}

ConfigResult parse(const std::string& text) {
    return parse_config(text, [](const std::string& name) -> std::optional<std::string> {
        if (name == "HEARSAY_CLUSTER_KEY") return std::string(32, 'k');
        if (name == "HEARSAY_ADMIN_TOKEN") return std::string(16, 't');
        return std::nullopt;
    });
}

/// The configurations of nodes among the examples; `monitoring` has files for other programs.
std::vector<std::filesystem::path> example_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kConfigs)) {
        const auto name = entry.path().filename().string();
        if (entry.path().parent_path().filename() == "monitoring") continue;
        if (name.ends_with(".json") && name != "hearsay.schema.json") files.push_back(entry.path());
    }
    return files;
}

json base() {
    return json::parse(R"({"node": "a", "listen": "127.0.0.1:3128", "forward": {"enabled": true},
        "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}], "cache": {}, "log": {}, "limits": {},
        "timeouts": {}, "summary": {"announce": {}}, "admin": {},
        "cluster": {"key": "${HEARSAY_CLUSTER_KEY}", "listen": "127.0.0.1:3129",
                    "peers": [{"node": "b", "http": "b:3128", "link": "b:3129"}]}})");
}

TEST(Examples, AreAcceptedByParserAndSchema) {
    const auto files = example_files();
    EXPECT_GE(files.size(), 4u);
    for (const auto& file : files) {
        const auto text = read(file);
        EXPECT_EQ(describe(parse(text).errors), "") << file;
        EXPECT_TRUE(schema_accepts(json::parse(text))) << file;
    }
}

TEST(Schema, KnowsEveryDefaultThatTheParserWrites) {
    auto effective = json::parse(effective_config(parse(base().dump()).config.value()));
    effective["cluster"]["keys"] = {std::string(32, 'k')};
    EXPECT_TRUE(schema_accepts(effective));
    EXPECT_EQ(describe(parse(effective.dump()).errors), "");
}

/// The properties of an object, which may be one of several things that are allowed.
json properties_of(const json& schema) {
    if (schema.contains("properties")) return schema["properties"];
    for (const auto& choice : schema.value("anyOf", json::array()))
        if (choice.contains("properties")) return choice["properties"];
    return json::object();
}

/// Compares each setting of `effective`, apart from those that a file must have, with the statement
/// of the schema.
void expect_defaults(const json& schema, const json& effective, const std::string& path) {
    const auto known = properties_of(schema);
    const auto required = schema.value("required", json::array());
    for (const auto& [name, value] : effective.items()) {
        const auto where = path + "." + name;
        if (std::find(required.begin(), required.end(), name) != required.end()) continue;
        if (!known.contains(name)) {
            ADD_FAILURE() << where << " is not in the schema";
        } else if (!properties_of(known[name]).empty()) {
            expect_defaults(known[name], value, where);
        } else {
            EXPECT_EQ(known[name].value("default", json()), value) << where;
        }
    }
}

TEST(Schema, HasTheDefaultOfEverySetting) {
    Config config;
    config.cluster.emplace();
    auto defaults = json::parse(effective_config(config));
    defaults["cluster"].erase("keys");
    defaults.erase("node");  // the host's name
    // The one default that is not of the setting alone: it follows log.format.
    defaults["log"].erase("peers");
    const auto schema = json::parse(read(kConfigs / "hearsay.schema.json"));
    EXPECT_FALSE(
        schema.at(json::json_pointer("/properties/log/properties/peers")).contains("default"));
    expect_defaults(schema, defaults, "$");
}

/// One change to a good file: JSON pointer and new value; null removes.
struct Change {
    const char* pointer;
    const char* value;
};

json changed(const Change& change) {
    auto config = base();
    const json::json_pointer pointer(change.pointer);
    const auto value = json::parse(change.value);
    if (value.is_null()) {
        config.at(pointer.parent_pointer()).erase(pointer.back());
    } else {
        config[pointer] = value;
    }
    return config;
}

class GoodChange : public testing::TestWithParam<Change> {};

TEST_P(GoodChange, IsAcceptedByBoth) {
    const auto config = changed(GetParam());
    EXPECT_EQ(describe(parse(config.dump()).errors), "") << config;
    EXPECT_TRUE(schema_accepts(config)) << config;
}

INSTANTIATE_TEST_SUITE_P(
    Schema, GoodChange,
    testing::Values(
        Change{"/$schema", "\"x\""}, Change{"/workers", "256"}, Change{"/origins", "null"},
        Change{"/forward", "null"}, Change{"/cluster", "null"}, Change{"/summary", "null"},
        Change{"/admin/listen", "\"[::1]:1\""}, Change{"/cache/memory", "\"1.5GiB\""},
        Change{"/cache/memory", "2000000"}, Change{"/cache/object_max", "\"10MB\""},
        Change{"/cache/disk", R"({"path": "/var/cache/x", "size": "1GiB"})"},
        Change{"/cache/disk",
               R"([{"path": "/x", "size": "1GiB"}, {"path": "/y", "size": 1000000000}])"},
        Change{"/cache/disk", "[]"}, Change{"/cache/disk_admission", "\"always\""},
        Change{"/cache/variants", "1"}, Change{"/cache/variants", "1024"},
        Change{"/cache/store_set_cookie", "true"}, Change{"/cache/cdn_cache_control", "false"},
        Change{"/cache/stale_when_unreachable", "0"},
        Change{"/cache/heuristic", "{\"fraction\": 1, \"maximum\": \"1h\"}"},
        Change{"/cache/client_directives", "\"shield\""}, Change{"/cluster/copy", "\"second_use\""},
        Change{"/cluster/copy", "\"never\""}, Change{"/cluster/bandwidth", "\"10MiB\""},
        Change{"/cluster/copy", "\"while_room\""},

        Change{"/cluster/heartbeat", "\"1s\""}, Change{"/summary/kind", "\"counting_bloom\""},
        Change{"/summary/kind", "\"quotient\""}, Change{"/summary/kind", "\"cuckoo\""},
        Change{"/summary/announce/delay", "\"250ms\""}, Change{"/log/level", "\"warn\""},
        Change{"/log/access", "\"/tmp/x\""}, Change{"/log/format", "\"combined\""},
        Change{"/log/peers", "false"},
        Change{"/tracing", R"({"endpoint": "http://127.0.0.1:4318/v1/traces"})"},
        Change{"/tracing", R"({"endpoint": "https://c", "sample_ratio": 1, "trusted": ["::1"],
            "service_name": "x"})"},
        Change{"/timeouts/drain", "0"}, Change{"/timeouts/drain_grace", "\"5s\""},
        Change{"/limits/body_windows", "\"1GiB\""}, Change{"/limits/client_rate_min", "0"},
        Change{"/timeouts/client_head", "\"1m\""}, Change{"/origins/0/url", "\"http://o/\""},
        Change{"/origins/0/path", "\"/api/\""}, Change{"/origins/0/host", "\"*.example.org\""},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o"}]})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o", "weight": 256},
            {"url": "http://p", "backup": true}], "balance": "rendezvous", "slow_start": "30s",
            "health": {"path": "/up?x", "every": "1s", "timeout": 0.5,
                       "expect": [200, "3xx", "400-404"]}})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "https://o"}],
            "tls": {"verify": false}})"},
        Change{"/forward/parent", R"(["http://p:3128", "https://u:p%40s@[::1]:3128/"])"},
        Change{"/forward/no_proxy", R"(["*.example.org", "10.0.0.0/8", "::1", "localhost"])"},
        Change{"/origins/0", R"({"host": "*", "url": "https://o"})"},
        Change{"/origins/0", R"({"host": "o", "url": "https://o/simple/", "public": "http://m:1/p",
            "rewrite": ["location", "links"], "rewrite_up_to": "1MiB", "ns": "docker.io"})"},
        Change{"/origins/0", R"({"host": "o", "upstreams": [{"url": "http://p/x"}],
            "public": "HTTPS://m", "rewrite": []})"},
        Change{"/origins/0", R"({"host": "*", "url": "https://o", "tls": {"verify": false}})"},
        Change{"/origins/0",
               R"({"host": "*", "url": "https://o", "tls": {"ca": "/x", "name": "y"}})"},
        Change{"/tls", R"({"listen": "a:2", "certificate": "/c", "key": "/k"})"},
        Change{"/tls",
               R"({"listen": "a:2", "certificates": [{"certificate": "/c", "key": "/k"}]})"},
        Change{"/tls",
               R"({"listen": "a:2", "certificate": "/c", "key": "/k", "certificates": []})"},
        Change{"/timeouts/tunnel_idle", "60"}, Change{"/forward/connect_ports", "[443, 8443]"},
        Change{"/forward/authentication", R"({"users": "/u"})"},
        Change{"/forward/authentication", R"({"users": "/u", "realm": "x y", "in_clear": true})"},
        Change{"/forward/destinations", "{}"},
        Change{"/forward/destinations", R"({"allow": [], "deny": ["*.a", "[::1]:443", "b:25"]})"},
        Change{"/forward/intercept",
               R"({"hosts": ["pypi.org"], "ca": {"certificate": "/c", "key": "/k"}})"},
        Change{"/forward/intercept", R"({"hosts": ["*.crates.io", "a"], "ports": [443, 8443],
            "ca": {"certificate": "/c", "key": "${HEARSAY_CLUSTER_KEY}"}})"},
        Change{"/clients/limits", R"({"per_address": {"requests": 10, "burst": 50,
            "connections": 4, "bandwidth": "1MiB"}, "per_user": {"bandwidth": 0}})"},
        Change{"/forward/blocklists", "[]"},
        Change{"/forward/blocklists", R"([{"path": "/l", "format": "hosts"}])"},
        Change{"/forward/blocklists", R"([{"path": "/l", "format": "urls", "action": "log"},
            {"path": "/m", "format": "dstdomain", "action": "refuse"}])"},
        Change{"/forward/blocklist_folder", "\"/var/tmp\""},
        Change{"/forward/private_destinations", "\"allow\""}, Change{"/purge/allow", "[]"},
        Change{"/purge/allow", "[\"10.0.0.0/8\", \"::1\"]"},
        Change{"/forward/private_destinations", "[\"10.0.0.0/8\"]"},
        Change{"/forward/clients", "[\"10.0.0.0/8\"]"}, Change{"/clients", "{}"},
        Change{"/clients", R"({"allow": ["::1"], "deny": [], "trusted_proxies": ["::1"]})"},
        Change{"/clients", R"({"proxy_protocol": true, "trusted_proxies": ["::1"]})"},
        Change{"/forwarded", R"({"origins": "replace", "forward": "append"})"},
        Change{"/forwarded", R"({"via": "pseudonym"})"}, Change{"/forwarded", R"({"via": "off"})"},
        Change{"/forwarded", R"({"drop": []})"}, Change{"/forwarded", R"({"drop": ["X-A"]})"},
        Change{"/upgrade", "[]"}, Change{"/upgrade", "[\"websocket\"]"},
        Change{"/admin/token", "\"0123456789abcdef==\""},
        Change{"/admin", R"({"token": "0123456789abcdef", "token_for": "all"})"},
        Change{"/admin/names", "[\"node-a\"]"}, Change{"/admin/top_urls", "\"off\""},
        Change{"/admin/top_clients", "true"}, Change{"/rules", R"([{"name": "r"}])"},
        Change{"/rules",
               R"([{"name": "r", "match": {"hosts": ["*.a"], "paths": ["/b*"], "methods": ["GET"]},
                              "fresh_for": {"200": "1h", "404": 5}, "at_least": "1s", "at_most": "1d",
                              "ignore": ["private"], "query": {"keep": ["v"], "sort": true},
                              "request_fields": {"set": {"X": "y"}, "remove": ["Z"]}, "tags": ["t"]}])"},
        Change{"/rules", R"([{"name": "r", "fresh_for": "1h", "query": "ignore", "bypass": true,
                              "immutable": true, "share_authorized": true,
                              "key_fields": ["Accept"],
                              "stale_while_revalidate": "1s", "stale_if_error": 60,
                              "stale_on": [429], "authorize": "origin", "min_age": "7d",
                              "follow_redirects": true, "redirect_fields": ["X-A"],
                              "fetch_for_head": true}])"}));

class BadChange : public testing::TestWithParam<Change> {};

TEST_P(BadChange, IsRefusedByBoth) {
    const auto config = changed(GetParam());
    EXPECT_NE(describe(parse(config.dump()).errors), "") << config;
    EXPECT_FALSE(schema_accepts(config)) << config;
}

INSTANTIATE_TEST_SUITE_P(
    Schema, BadChange,
    testing::Values(
        Change{"/listen", "null"}, Change{"/node", "\"a b\""}, Change{"/node", "5"},
        Change{"/listen", "\"3128\""}, Change{"/workers", "0"}, Change{"/workers", "257"},
        Change{"/workers", "\"1\""}, Change{"/xyzzy", "1"}, Change{"/admin/port", "1"},
        Change{"/admin", "\"a:1\""}, Change{"/forward/enable", "true"},
        Change{"/forward/enabled", "\"yes\""}, Change{"/forward/connect_ports", "[0]"},
        Change{"/forward/connect_ports", "443"}, Change{"/forward/authentication", "{}"},
        Change{"/forward/authentication", "\"/u\""},
        Change{"/forward/authentication", R"({"users": "u"})"},
        Change{"/forward/authentication", R"({"users": "/u", "realm": "\u00fc"})"},
        Change{"/forward/authentication", R"({"users": "/u", "in_clear": "yes"})"},
        Change{"/forward/intercept", R"({"ca": {"certificate": "/c", "key": "/k"}})"},
        Change{"/forward/intercept", R"({"hosts": ["a"]})"},
        Change{"/forward/intercept", R"({"hosts": ["a"], "ca": {"certificate": "/c"}})"},
        Change{"/forward/intercept", R"({"hosts": [], "ca": {"certificate": "/c", "key": "/k"}})"},
        Change{"/forward/intercept",
               R"({"hosts": ["a:443"], "ca": {"certificate": "/c", "key": "/k"}})"},
        Change{"/forward/intercept",
               R"({"hosts": ["a"], "ports": [], "ca": {"certificate": "/c", "key": "/k"}})"},
        Change{"/forward/destinations", "[]"},
        Change{"/forward/destinations", R"({"deny": ["http://a"]})"},
        Change{"/forward/destinations", R"({"deny": ["a/b"]})"},
        Change{"/forward/destinations", R"({"deny": ["::1"]})"},
        Change{"/clients/limits", R"({"per_address": {"requests": -1}})"},
        Change{"/clients/limits", R"({"per_address": {"requests": 0.5}})"},
        Change{"/clients/limits", R"({"per_addresses": {}})"},
        Change{"/clients/limits", R"({"per_user": {"bandwidth": "fast"}})"},
        Change{"/forward/blocklists", R"({"path": "/l", "format": "hosts"})"},
        Change{"/forward/blocklists", R"(["/l"])"},
        Change{"/forward/blocklists", R"([{"format": "hosts"}])"},
        Change{"/forward/blocklists", R"([{"path": "/l"}])"},
        Change{"/forward/blocklists", R"([{"path": "l", "format": "hosts"}])"},
        Change{"/forward/blocklists", R"([{"path": "/l", "format": "regex"}])"},
        Change{"/forward/blocklists", R"([{"path": "/l", "format": "urls", "action": "allow"}])"},
        Change{"/forward/blocklists", R"([{"path": "/l", "format": "urls", "line": 1}])"},
        Change{"/forward/blocklist_folder", "\"\""}, Change{"/forward/blocklist_folder", "\"x\""},
        Change{"/forward/private_destinations", "\"maybe\""}, Change{"/origins", "{}"},
        Change{"/origins/0/host", "null"}, Change{"/origins/0/url", "null"},
        Change{"/origins/0", R"({"host": "*", "url": "http://o", "tls": {}})"},
        Change{"/origins/0", R"({"host": "*", "url": "https://o", "tls": {"ca": ""}})"},
        Change{"/origins/0", R"({"host": "*", "url": "https://o", "tls": {"names": "x"}})"},
        Change{"/tls", R"({"listen": "a:2", "certificate": "/c"})"},
        Change{"/tls", R"({"listen": "a:2"})"},
        Change{"/tls", R"({"listen": "a:2", "certificates": []})"},
        Change{"/tls", R"({"listen": "a:2", "certificates": [{"certificate": "/c"}]})"},
        Change{"/tls", R"({"listen": "a:2", "certificates": [{"certificate": "/c", "key": ""}]})"},
        Change{"/tls", R"({"listen": "a:2", "key": "/k",
                           "certificates": [{"certificate": "/c", "key": "/k"}]})"},
        Change{"/tls", R"({"listen": "a:2", "certificate": "/c", "key": ""})"},
        Change{"/origins/0/url", "\"https://o/path\""}, Change{"/origins/0/public", "\"m/path\""},
        Change{"/origins/0/public", "\"http://m/?x\""},
        Change{"/origins/0/rewrite", "[\"location\"]"},
        Change{"/origins/0/rewrite_up_to", "\"1MiB\""}, Change{"/origins/0/ns", "\"docker.io\""},
        Change{"/origins/0", R"({"host": "o", "url": "http://o/x?y", "public": "http://m/"})"},
        Change{"/origins/0", R"({"host": "o", "url": "http://o", "public": "http://m",
            "rewrite": ["cookies"]})"},
        Change{"/origins/0/url", "\"http://o/path\""}, Change{"/origins/0/url", "\"http://u@o\""},
        Change{"/origins/0/weight", "1"}, Change{"/origins/0/path", "\"api\""},
        Change{"/origins/0/path", "\"/a?b\""}, Change{"/origins/0/upstreams", "[]"},
        Change{"/origins/0/upstreams", R"([{"url": "http://o"}])"},
        Change{"/origins/0/balance", "\"rendezvous\""}, Change{"/origins/0/slow_start", "1"},
        Change{"/origins/0/health", R"({"path": "/"})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": []})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o", "weight": 0}]})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o", "weight": 257}]})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"weight": 1}]})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o"}],
            "balance": "random"})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o"}],
            "health": {"path": "up"}})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o"}],
            "health": {"path": "/", "expect": ["6xx"]}})"},
        Change{"/origins/0", R"({"host": "*", "upstreams": [{"url": "http://o"}], "tls": {}})"},
        Change{"/forward/parent", R"(["ftp://p:3128"])"},
        Change{"/forward/parent", R"(["http://p:3128/x"])"},
        Change{"/forward/parent", "\"http://p:3128\""}, Change{"/forward/no_proxy", R"([""])"},
        Change{"/cache/memry", "1"}, Change{"/cache/memory", "\"lots\""},
        Change{"/cache/memory", "-1"}, Change{"/cache/memory", "1.5"}, Change{"/cache/disk", "{}"},
        Change{"/cache/disk", "\"/x\""}, Change{"/cache/disk", "[1]"},
        Change{"/cache/disk", R"({"path": "/x"})"}, Change{"/cache/disk", R"({"size": "1GiB"})"},
        Change{"/cache/disk", R"({"path": "x", "size": "1GiB"})"},
        Change{"/cache/disk", R"({"path": "/x", "size": "20 gigs"})"},
        Change{"/cache/disk", R"({"path": "/x", "size": "1GiB", "name": "x"})"},
        Change{"/cache/disk_admission", "\"never\""}, Change{"/cache/client_directives", "\"x\""},
        Change{"/cache/variants", "0"}, Change{"/cache/variants", "1025"},
        Change{"/cache/variants", "\"many\""}, Change{"/cache/cdn_cache_control", "1"},
        Change{"/cache/stale_when_unreachable", "\"never\""}, Change{"/cache/heuristic", "0.1"},
        Change{"/cache/heuristic", "{\"fraction\": 2}"},
        Change{"/cache/heuristic", "{\"fraction\": 0}"}, Change{"/cache/heuristic", "{\"max\": 1}"},
        Change{"/cluster/key", "null"}, Change{"/cluster/key", "\"short\""},
        Change{"/cluster/keys", "[\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\"]"},
        Change{"/cluster/listen", "null"}, Change{"/cluster/bandwidth", "\"fast\""},
        Change{"/cluster/copy", "\"sometimes\""}, Change{"/cluster/peers/0/link", "null"},
        Change{"/cluster/peers/0/x", "1"}, Change{"/summary/kind", "\"bloom\""},
        Change{"/summary/false_hit_budget", "0"}, Change{"/summary/false_hit_budget", "0.6"},
        Change{"/summary/announce/changed", "1.5"}, Change{"/summary/announce/delay", "\"soon\""},
        Change{"/log/level", "\"loud\""}, Change{"/log/access", "\"\""},
        Change{"/log/format", "\"xml\""}, Change{"/tracing", "{}"},
        Change{"/tracing", R"({"endpoint": "c:4318"})"},
        Change{"/tracing", R"({"endpoint": "http://u@c"})"},
        Change{"/tracing", R"({"endpoint": "http://c", "sample_ratio": 0})"},
        Change{"/tracing", R"({"endpoint": "http://c", "sampler": "x"})"},
        Change{"/limits/connections", "0"}, Change{"/limits/heads", "1"},
        Change{"/limits/client_rate_min", "\"500B/s\""},
        Change{"/forward/private_destinations", "[1]"}, Change{"/forward/clients", "\"::1\""},
        Change{"/clients", R"({"allow": "all"})"},
        Change{"/clients", R"({"proxy_protocol": true})"},
        Change{"/clients", R"({"proxy_protocol": 1})"}, Change{"/clients", R"({"trusted": []})"},
        Change{"/forwarded", R"({"drop": ["X A"]})"}, Change{"/forwarded", R"({"drop": [1]})"},
        Change{"/rules", R"([{}])"}, Change{"/rules", R"([{"name": ""}])"},
        Change{"/rules", R"([{"name": "r", "match": {"paths": ["x"]}}])"},
        Change{"/rules", R"([{"name": "r", "match": {"path": "/x"}}])"},
        Change{"/rules", R"([{"name": "r", "fresh_for": {"2xx": "1h"}}])"},
        Change{"/rules", R"([{"name": "r", "ignore": ["everything"]}])"},
        Change{"/rules", R"([{"name": "r", "query": {"keep": ["a"], "drop": ["b"]}}])"},
        Change{"/rules", R"([{"name": "r", "query": "all"}])"},
        Change{"/rules", R"([{"name": "r", "stale_on": [429]}])"},
        Change{"/rules", R"([{"name": "r", "authorize": "client"}])"},
        Change{"/rules", R"([{"name": "r", "response_fields": {"remove": ["a b"]}}])"},
        Change{"/rules", R"([{"name": "r", "tags": ["a b"]}])"},
        Change{"/rules", R"([{"name": "r", "key_fields": ["a b"]}])"},
        Change{"/forwarded", R"({"via": "no"})"}, Change{"/forwarded", R"({"origins": "add"})"},
        Change{"/forwarded", R"({"peers": "off"})"}, Change{"/upgrade", "[\"a b\"]"},
        Change{"/upgrade", "\"websocket\""}, Change{"/admin/token", "\"short\""},
        Change{"/admin/token_for", "\"all\""}, Change{"/admin/token_for", "\"some\""},
        Change{"/admin/names", "\"a\""}, Change{"/admin/top_urls", "true"},
        Change{"/admin/top_clients", "\"on\""}, Change{"/purge/allow", "\"::1\""},
        Change{"/purge/allow", "[1]"}, Change{"/purge/x", "1"},
        Change{"/timeouts/drain", "\"-1s\""}, Change{"/timeouts/connect", "1"}));

TEST(Schema, RefusesAFileWithNothingToServe) {
    const auto config = json::parse(R"({"node": "a", "listen": "127.0.0.1:3128"})");
    EXPECT_FALSE(parse(config.dump()).config);
    EXPECT_FALSE(schema_accepts(config));
}

}  // namespace schema_test
}  // namespace proxy
