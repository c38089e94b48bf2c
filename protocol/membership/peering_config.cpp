#include "protocol/membership/peering_config.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

#include "protocol/wire/heartbeat.hpp"

namespace protocol {
namespace {

class Faults {
public:
    explicit Faults(const PeeringConfig& config) : config_(config) {}

    std::vector<BadSetting> find() && {
        const auto& id = config_.node;
        require(is_node_name(id), "node",
                "must be an HTTP token of 1 to " + std::to_string(kMaxNodeIdBytes) + " bytes");
        keys();
        peers();
        timings(config_.timings);
        return std::move(found_);
    }

private:
    void require(bool valid, std::string_view setting, std::string otherwise) {
        if (!valid) found_.push_back({setting, std::move(otherwise)});
    }

    void keys() {
        const auto& keys = config_.security.keys;
        require(keys.size() <= kMaxClusterKeys, "keys",
                "may be " + std::to_string(kMaxClusterKeys) + " at most");
        const auto is_short = [](const auto& key) { return key.size() < kMinClusterKeyBytes; };
        require(std::none_of(keys.begin(), keys.end(), is_short), "keys",
                "must have at least " + std::to_string(kMinClusterKeyBytes) + " bytes each");
        require((config_.peers.empty() && config_.dns_peers.empty()) || !keys.empty(), "keys",
                "are missing: links to peers need one");
        require(config_.security.encrypt || !config_.security.allow_clear, "allow_clear",
                "needs cluster.encrypt: without it nothing is encrypted");
    }

    void peers() {
        const auto most = config_.max_peers;
        require(most >= 1 && most <= kMaxPeers, "max_peers",
                "must be from 1 to " + std::to_string(kMaxPeers));
        std::set<std::string_view> nodes;
        std::size_t others = 0;
        for (const auto& peer : config_.peers) {
            if (peer.node == config_.node) continue;
            ++others;
            require(is_node_name(peer.node), "peers",
                    "must have names that are HTTP tokens of 1 to " +
                        std::to_string(kMaxNodeIdBytes) + " bytes");
            require(nodes.insert(peer.node).second, "peers", "has two called " + peer.node);
        }
        require(others <= most, "peers",
                "must be at most " + std::to_string(most) +
                    " besides this node (cluster.max_peers, " + std::to_string(kMaxPeers) +
                    " at most)");
    }

    void timings(const Timings& timings) {
        const auto zero = std::chrono::nanoseconds(0);
        require(timings.heartbeat > zero && timings.heartbeat <= kMaxBeatInterval, "heartbeat",
                "must be above 0 and at most one minute");
        silence(timings);
        require(timings.connect > zero && timings.hello > zero && timings.check_hash > zero &&
                    timings.reconnect_min > zero && timings.forget > zero &&
                    timings.look_gap > zero && timings.reconnect_max >= timings.reconnect_min,
                "timings", "must be above 0, and reconnect_max at least reconnect_min");
    }

    /// Blames the setting that differs from its default.
    void silence(const Timings& timings) {
        if (timings.gone_after > 2 * timings.heartbeat) return;
        const bool by_default = timings.gone_after == Timings().gone_after;
        const auto beat = text(timings.heartbeat), gone = text(timings.gone_after);
        if (by_default && timings.heartbeat != Timings().heartbeat)
            return require(false, "heartbeat",
                           "is " + beat + ", and must be less than half of gone_after, " + gone);
        require(false, "gone_after",
                "is " + gone + ", and must be more than twice the heartbeat, " + beat);
    }

    static std::string text(std::chrono::nanoseconds time) {
        const auto seconds = std::chrono::duration<double>(time).count();
        return seconds < 1 ? fmt::format("{:g}ms", seconds * 1000) : fmt::format("{:g}s", seconds);
    }

    const PeeringConfig& config_;
    std::vector<BadSetting> found_;
};

}  // namespace

std::vector<BadSetting> faults(const PeeringConfig& config) {
    return Faults(config).find();
}

}  // namespace protocol
