#include "proxy/config/config_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "proxy/config/config_peers.hpp"
#include "summary/kind.hpp"

namespace proxy {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr std::uint64_t kKibibyte = 1ull << 10, kMebibyte = 1ull << 20;

/// `key`, or `keys` while it is changed. Messages never show a key.
void read_keys(ConfigContext& context, ConfigSection& in, std::vector<std::string>& out) {
    std::vector<std::pair<const json*, std::string>> found;
    if (const auto* key = in.take("key")) found.emplace_back(key, in.path("key"));
    if (in.has("keys")) {
        if (!found.empty()) in.fail("keys", "give either key or keys, not both");
        found = in.elements("keys");
        if (found.empty() || found.size() > 2) in.fail("keys", "must be one or two keys");
    } else {
        in.take("keys");
        in.require("key");
    }
    for (const auto& [value, path] : found) {
        auto key = secret_of(context, *value, path);
        if (!key) continue;
        if (key->size() < kMinKeyBytes) {
            context.fail(path, "must have at least " + std::to_string(kMinKeyBytes) +
                                   " bytes, has " + std::to_string(key->size()));
        } else if (std::find(out.begin(), out.end(), *key) != out.end()) {
            context.fail(path, "is the same key again");
        }
        out.push_back(std::move(*key));
    }
}

}  // namespace

void read_cluster(ConfigContext& context, ConfigSection& root, std::optional<ClusterConfig>& out) {
    auto in = root.section("cluster");
    if (!in) return;
    auto& cluster = out.emplace();
    read_keys(context, *in, cluster.keys);
    in->require("listen");
    in->read("listen", cluster.listen);
    in->read_named("copy", cluster.copy, kCopyPolicies,
                   [](CopyPolicy policy) { return to_string(policy); });
    in->read("peer_budget", cluster.peer_budget, 1ms, 60s);
    cluster.peer_budget_min = std::min(cluster.peer_budget_min, cluster.peer_budget);
    cluster.peer_budget_max = std::max(cluster.peer_budget_max, cluster.peer_budget);
    const bool is_known = !in->failed("peer_budget");
    in->read("peer_budget_min", cluster.peer_budget_min, 1ms, is_known ? cluster.peer_budget : 60s);
    in->read("peer_budget_max", cluster.peer_budget_max, is_known ? cluster.peer_budget : 1ms, 60s);
    in->read("peer_detour", cluster.peer_detour, 0ms, 60s);
    in->read("peer_stall", cluster.peer_stall, 10ms, 10min);
    in->read("heartbeat", cluster.heartbeat, 10ms, 60s);
    in->read("gone_after", cluster.gone_after, 50ms, 10min);
    in->read("max_peers", cluster.max_peers, std::size_t{1}, kMaxPeers);
    in->read("misses_per_sample", cluster.misses_per_sample, 0u, 1'000'000u);
    read_peers(context, *in, "peers", cluster);
    in->done();
}

void read_summary(ConfigSection& root, SummaryConfig& out) {
    auto in = root.section("summary");
    if (!in) return;
    in->read_named("kind", out.kind, summary::kKinds,
                   [](summary::Kind kind) { return summary::name(kind); });
    in->read("false_hit_budget", out.false_hit_budget, 0.0, 0.5);
    in->read_size("peer_max", out.peer_max, 64 * kKibibyte, 512 * kMebibyte);
    if (auto announce = in->section("announce")) {
        announce->read("changed", out.announce.changed, 0.0, 1.0);
        announce->read("delay", out.announce.delay, 1ms, 1h);
        announce->done();
    }
    in->done();
}

}  // namespace proxy
