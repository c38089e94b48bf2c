#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/cluster.hpp"
#include "protocol/wire/codec.hpp"
#include "summary/directory/directory.hpp"

namespace protocol::test {

using namespace std::chrono_literals;

inline const std::string kKey = "the cluster key of the tests, 32 bytes+";
inline const std::string kOtherKey = "another cluster key of the tests, 32 bytes+";

/// An address of this test process alone (all of 127/8 is loopback), so that tests running side by
/// side do not meet.
inline std::string address(unsigned number) {
    const auto pid = static_cast<unsigned>(::getpid());
    return "127." + std::to_string(64 + (pid >> 8) % 128) + '.' + std::to_string(pid & 255) + '.' +
           std::to_string(number);
}

/// A real node on an event loop of its own: a loop that does not turn is a process that is stopped.
struct TestNode {
    explicit TestNode(PeeringConfig configuration) : config(std::move(configuration)) { boot(); }
    ~TestNode() {
        if (cluster) cluster->stop();
    }
    TestNode(const TestNode&) = delete;
    TestNode& operator=(const TestNode&) = delete;

    void boot() {
        cluster = std::make_shared<Cluster>(*io, config, hooks());
        if (kept) cluster->go_on_from(*kept);
        cluster->start();
    }
    /// As when its configuration is read again while it runs.
    void reload() {
        auto next = std::make_shared<Cluster>(*io, config, hooks());
        next->start_in_place_of(*cluster);
        cluster = std::move(next);
    }
    ClusterHooks hooks() {
        return {[this](auto next) { view = next; },
                [this](const Invalidation& what, std::function<void()> done) {
                    drop(what);
                    keeps_late ? to_keep.push_back(std::move(done)) : done();
                },
                {}};
    }
    /// As when a disk has written it all.
    void keep() {
        for (const auto& done : std::exchange(to_keep, {})) done();
    }
    void drop(const Invalidation& what) {
        if (fails_to_drop) throw std::bad_alloc();

        drops += 1;
        dropped_all = dropped_all || what.all;
        dropped.insert(dropped.end(), what.keys.begin(), what.keys.end());
        dropped_tags.insert(dropped_tags.end(), what.tags.begin(), what.tags.end());
    }
    /// As kill -9 looks from outside: every socket closed, nothing said.
    void kill() {
        if (cluster) cluster->stop();
        cluster.reset();
        io = std::make_unique<boost::asio::io_context>();
        view.reset();
    }
    void restart() {
        kill();
        boot();
    }

    summary::KeyHash hash(std::string_view key) const { return cluster->key_hasher()(key); }
    void store(std::string_view key) const { cluster->stored(hash(key)); }
    void remove(std::string_view key) const { cluster->removed(hash(key)); }

    /// As after an unsafe request: gone here, to go at all peers.
    std::uint64_t invalidate(std::string_view key) const {
        return cluster->invalidate({{hash(key)}, {}});
    }
    bool has_dropped(std::string_view key) const {
        return std::find(dropped.begin(), dropped.end(), hash(key)) != dropped.end();
    }

    const PeerView::Peer& peer(std::string_view node) const { return view->peers[index(node)]; }
    std::size_t index(std::string_view node) const {
        for (std::size_t i = 0; i < view->peers.size(); ++i) {
            if (view->peers[i].node == node) return i;
        }
        ADD_FAILURE() << "no peer " << node;
        return 0;
    }
    /// Does this node believe that `node` holds the key?
    bool sees(std::string_view node, std::string_view key) const {
        if (!view || !view->directory) return false;
        return view->directory->candidates({hash(key), key})
            .contains(static_cast<unsigned>(index(node)));
    }
    bool in_sync_with(std::string_view node) const { return view && peer(node).in_sync; }
    ClusterStatus::Peer status_of(std::string_view node) const {
        for (auto& peer : cluster->status().peers) {
            if (peer.node == node) return peer;
        }
        ADD_FAILURE() << "no peer " << node;
        return {};
    }
    std::uint64_t refusals(const std::string& reason) const {
        const auto counts = cluster->status().refusals;
        const auto found = counts.find(reason);
        return found == counts.end() ? 0 : found->second;
    }

    PeeringConfig config;
    std::unique_ptr<boost::asio::io_context> io = std::make_unique<boost::asio::io_context>();
    std::shared_ptr<const PeerView> view;
    std::shared_ptr<Cluster> cluster;
    bool paused = false;
    unsigned drops = 0;  // what peers ordered
    bool dropped_all = false;
    bool fails_to_drop = false;  // as if there were no memory for it
    bool keeps_late = false;     // only when keep() is called
    std::vector<std::function<void()>> to_keep;
    std::optional<InvalidationBacklog> kept;  // what the next run goes on from
    std::vector<summary::KeyHash> dropped, dropped_tags;
};

/// A few nodes "a", "b", "c" ... that list each other.
class ClusterTest : public ::testing::Test {
protected:
    ClusterTest() { spdlog::set_level(spdlog::level::off); }

    static Timings quick() {
        Timings timings;
        timings.heartbeat = 40ms;
        timings.gone_after = 30s;  // busy test machines are not what is tested
        timings.reconnect_min = 5ms;
        timings.reconnect_max = 50ms;
        timings.connect = 10s;
        timings.hello = 10s;
        timings.check_hash = 100ms;
        return timings;
    }

    /// A node that gives up on a peer that is silent for a second.
    static PeeringConfig impatient(PeeringConfig config) {
        config.timings.gone_after = 1s;
        return config;
    }

    static std::string name_of(unsigned number) { return std::string(1, char('a' + number)); }
    static std::string address_of(const std::string& node) {
        return address(1 + static_cast<unsigned>(node.front() - 'a'));
    }

    static PeerConfig peer_config(const std::string& node) {
        PeerConfig peer;
        peer.node = node;
        peer.http = {address_of(node), 3128};
        peer.link = {address_of(node), 3129};
        return peer;
    }

    PeeringConfig config(const std::string& node, unsigned nodes = 2) const {
        PeeringConfig config;
        config.security.encrypt = encrypt_;
        config.node = node;
        config.security.keys = {kKey};
        config.listen = {address_of(node), 3129};
        config.timings = quick();
        for (unsigned i = 0; i < nodes; ++i) {
            if (name_of(i) != node) config.peers.push_back(peer_config(name_of(i)));
        }
        return config;
    }

    TestNode& add(PeeringConfig config) {
        nodes_.push_back(std::make_unique<TestNode>(std::move(config)));
        return *nodes_.back();
    }

    /// Turns all loops that are not paused until `holds`.
    bool run_until(const std::function<bool()>& holds, std::chrono::nanoseconds limit = 60s) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            bool worked = turn(helpers_);
            for (auto& node : nodes_) {
                if (!node->paused) worked = turn(*node->io) || worked;
            }
            if (!worked) helpers_.run_one_for(200us);
        }
        return true;
    }

    bool all_in_sync() const {
        for (const auto& node : nodes_) {
            for (std::size_t i = 0; i < node->view->peers.size(); ++i) {
                if (!node->view->peers[i].in_sync) return false;
            }
        }
        return true;
    }

    /// All that the node sends after these bytes at its link port, until it closes.
    Bytes answer_to(const std::string& node, const Bytes& bytes) {
        boost::asio::ip::tcp::socket client(helpers_);
        client.connect({boost::asio::ip::make_address(address_of(node)), 3129});
        boost::asio::write(client, boost::asio::buffer(bytes));
        client.non_blocking(true);
        Bytes answer(64);
        std::size_t size = 0;
        EXPECT_TRUE(run_until([&] {
            boost::system::error_code error;
            size += client.read_some(boost::asio::buffer(answer) + size, error);
            return error == boost::asio::error::eof;
        }));
        answer.resize(size);
        return answer;
    }

    static bool turn(boost::asio::io_context& io) {
        if (io.stopped()) io.restart();
        return io.poll() > 0;
    }

    boost::asio::io_context helpers_;  // for relays and fake peers
    bool encrypt_ = true;              // as config() has it
    std::vector<std::unique_ptr<TestNode>> nodes_;
};

}  // namespace protocol::test
