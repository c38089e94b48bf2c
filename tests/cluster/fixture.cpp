#include "tests/cluster/fixture.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace proxy::test {

using namespace std::chrono_literals;

bool eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

NodesTest::NodesTest() : origin([](Exchange& e) { e.answer(fresh(), "body of " + e.target); }) {
    spdlog::set_level(spdlog::level::off);
    set_peer_budget(10s);
    constants.meets = false;  // most tests count peer requests
    constants.peers.meet_at_most = 30s;
}

std::string NodesTest::address(const std::string& node) {
    const auto pid = static_cast<unsigned>(::getpid());
    return "127." + std::to_string(64 + (pid >> 8) % 128) + '.' + std::to_string(pid & 255) + '.' +
           std::to_string(1 + (node.front() - 'a'));
}

void NodesTest::set_peer_budget(std::chrono::nanoseconds budget) {
    auto& peers = constants.peers;
    peers.budget = peers.budget_least = peers.budget_most = budget;
    peers.detour = 60s;
}

Config NodesTest::config(const std::string& node) const {
    Config config;
    config.node = node;
    config.listen = {address(node), kProxyPort};
    config.admin = AdminConfig{{address(node), kAdminPort}};
    config.origins.push_back({"*", {"127.0.0.1", origin.port()}});
    config.cache.memory = 64 << 20;
    config.timeouts.drain_grace = 0s;
    return config;
}

Config NodesTest::config(const std::string& node, unsigned nodes) const {
    auto result = config(node);
    ClusterConfig cluster;
    cluster.keys = {"the cluster key of the tests, 32 bytes+"};
    cluster.listen = {address(node), kLinkPort};
    cluster.encrypt = encrypt;
    cluster.heartbeat = 50ms;
    cluster.gone_after = 30s;  // busy test machines are not what is tested
    for (unsigned i = 0; i < nodes; ++i) {
        const std::string peer(1, static_cast<char>('a' + i));
        if (peer == node) continue;
        cluster.peers.push_back({peer, {address(peer), kProxyPort}, {address(peer), kLinkPort}});
    }
    result.cluster = cluster;
    result.summary.announce.delay = 10ms;
    return result;
}

Config NodesTest::forward_config(const std::string& node) const {
    auto result = config(node);
    result.origins.clear();
    result.forward.enabled = true;
    result.forward.private_destinations = Destinations::allow;
    result.forward.connect_ports = {origin.port()};
    return result;
}

Node& NodesTest::start(Config config, const std::filesystem::path& file) {
    return start(LoadedConfig(std::move(config)), file);
}

Node& NodesTest::start(LoadedConfig config, const std::filesystem::path& file) {
    const auto name = config.node;
    config.constants = constants;
    std::erase_if(nodes_, [&](const auto& running) { return running.name == name; });
    nodes_.push_back({name, std::make_unique<Node>(std::move(config), file)});
    nodes_.back().node->start();
    return *nodes_.back().node;
}

void NodesTest::start_cluster(unsigned nodes) {
    for (unsigned i = 0; i < nodes; ++i)
        start(config(std::string(1, static_cast<char>('a' + i)), nodes));
    for (const auto& running : nodes_)
        ASSERT_TRUE(eventually([&] { return in_sync(running.name); })) << running.name;
}

bool NodesTest::in_sync(const std::string& node) const {
    for (const auto& peer : status(node).cluster.peers)
        if (!peer.in_sync()) return false;
    return true;
}

Node& NodesTest::find(const std::string& node) const {
    for (const auto& running : nodes_)
        if (running.name == node) return *running.node;
    throw std::invalid_argument("no node " + node);
}

NodeStatus NodesTest::status(const std::string& node) const {
    return find(node).status();
}

PeerStatus NodesTest::seen(const std::string& node, const std::string& peer) const {
    for (const auto& each : status(node).cluster.peers)
        if (each.node == peer) return each;
    ADD_FAILURE() << node << " has no peer " << peer;
    return {};
}

void NodesTest::kill(const std::string& node) {
    std::erase_if(nodes_, [&](const auto& running) { return running.name == node; });
}

bool NodesTest::announced(const std::string& node, std::uint64_t objects) const {
    for (const auto& running : nodes_) {
        if (running.name == node) continue;
        for (const auto& peer : status(running.name).cluster.peers)
            if (peer.node == node && (!peer.in_sync() || peer.objects < objects)) return false;
    }
    return true;
}

void NodesTest::store(const std::string& node, std::string_view target) {
    const auto before = status(node).summary.objects;
    ASSERT_EQ(get(node, target).status, 200u);
    ASSERT_TRUE(eventually([&] {
        const auto objects = status(node).summary.objects;
        return objects > before && announced(node, objects);
    }));
}

}  // namespace proxy::test
