#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/node/node.hpp"
#include "tests/cluster/client.hpp"
#include "tests/cluster/scripted_origin.hpp"

namespace proxy::test {

inline constexpr std::uint16_t kProxyPort = 3128, kLinkPort = 3129, kAdminPort = 9128;

/// Polls until it holds; false after kPatience.
bool eventually(const std::function<bool()>& holds);

/// Real nodes "a", "b", ... on addresses of this process alone, in front of one scripted origin.
class NodesTest : public ::testing::Test {
protected:
    NodesTest();

    /// A node's settings: reverse mode to the origin, one worker, no peers.
    Config config(const std::string& node) const;
    /// The same, in a cluster of so many nodes.
    Config config(const std::string& node, unsigned nodes) const;
    /// A forward proxy's instead, which may tunnel to the origin.
    Config forward_config(const std::string& node = "a") const;
    /// The origin's `host:port`, and a URL there.
    std::string origin_authority() const { return "127.0.0.1:" + std::to_string(origin.port()); }
    std::string url(std::string_view path) const {
        return "http://" + origin_authority() + std::string(path);
    }
    /// `file`: where the node would read it again.
    Node& start(Config config, const std::filesystem::path& file = {});
    /// The same with the settings as a file gave them, so that a reload compares texts.
    Node& start(LoadedConfig config, const std::filesystem::path& file = {});
    /// Starts nodes a, b, ... and waits until all are in sync.
    void start_cluster(unsigned nodes);
    bool in_sync(const std::string& node) const;

    static std::string address(const std::string& node);
    /// `from`: its own address; by default 127.0.0.1.
    Client client(const std::string& node = "a", const std::string& from = {}) const {
        return {address(node), kProxyPort, from};
    }
    Answer get(const std::string& node, std::string_view target,
               std::string_view fields = {}) const {
        return client(node).get(target, fields);
    }
    static Client admin_client(const std::string& node = "a") {
        Client client(address(node), kAdminPort);
        client.host = address(node);
        return client;
    }
    Answer admin(const std::string& node, std::string_view target) const {
        return admin_client(node).get(target);
    }
    NodeStatus status(const std::string& node) const;
    /// The status of `peer` at `node`; a failure when it has no such peer.
    PeerStatus seen(const std::string& node, const std::string& peer) const;
    std::uint64_t count(const std::string& node, Outcome outcome) const {
        return status(node).work.requests[outcome];
    }
    /// Ends a node as kill -9 does, seen from outside: nothing is said, all is closed.
    void kill(const std::string& node);
    /// Stores `target` at `node` and waits until all others know.
    void store(const std::string& node, std::string_view target);
    /// True when every other node's summary of `node` has at least so many objects.
    bool announced(const std::string& node, std::uint64_t objects) const;

    static std::string fresh(std::string_view more = {}) {
        return "Cache-Control: max-age=1000\r\n" + std::string(more);
    }

    /// Peers are waited for so long, and asked however far they are, whatever the origin takes.
    void set_peer_budget(std::chrono::nanoseconds budget);

    ScriptedOrigin origin;
    Constants constants;  // of the nodes that start from now on; patient with peers
    bool encrypt = true;  // config() of a cluster; false where a script stands in for a peer

private:
    struct Running {
        std::string name;
        std::unique_ptr<Node> node;
    };
    Node& find(const std::string& node) const;
    std::vector<Running> nodes_;
};

}  // namespace proxy::test
