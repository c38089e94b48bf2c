#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/error.hpp"
#include "protocol/links/publisher_end.hpp"
#include "protocol/links/subscriber_end.hpp"
#include "tests/protocol/bytes.hpp"

/// Both ends of links without a socket, a clock or a log: each message of one is handed to the
/// other.
namespace protocol::test {

using namespace std::chrono_literals;
using TimePoint = LinkEnd::TimePoint;

inline constexpr TimePoint kNow{1000s};
inline const std::string kClusterKey = "the cluster key of the tests, 32 bytes+";

/// One of two nodes that list each other; the other is its peer 0.
struct MachineNode final : PeerFeeds::Owner {
    MachineNode(const std::string& name, const std::string& other, unsigned instance,
                const std::string& key = kClusterKey)
        : state(config(name, other, key), filled<Instance>(instance), 1, kNow),
          feeds(state, *this) {
        state.hooks.on_invalidation = [this](const Invalidation& what, std::function<void()> done) {
            dropped += what;
            keeps_late ? to_keep.push_back(std::move(done)) : done();
        };
        state.hooks.on_renewals = [this](const std::string&, const Renewals& all) {
            renewed.insert(renewed.end(), all.list.begin(), all.list.end());
        };
        state.membership.configure(state.config.peers, {}, kNow);
        state.neighbours.add_peer(0, other);
        state.neighbours.place(0, {"127.0.0.1", 3128});
        state.invalidations.add_peer(0);
        feeds.add_peer(0, kNow);
    }

    static PeeringConfig config(const std::string& name, const std::string& other,
                                const std::string& key) {
        PeeringConfig config;
        config.node = name;
        config.security.keys = {key};
        PeerConfig peer;
        peer.node = other;
        peer.http = {"127.0.0.1", 3128};
        peer.link = {"127.0.0.1", 3129};
        config.peers.push_back(peer);
        return config;
    }
    ClusterStatus::Peer report(TimePoint now = kNow) const {
        ClusterStatus::Peer peer;
        feeds.add_to(0, now, peer);
        return peer;
    }
    std::uint64_t invalidate(std::uint64_t key) {
        return state.invalidations.add({std::vector{summary::KeyHash{key, key}}, {}});
    }

    std::optional<std::size_t> admit(const std::string& node, const Instance& instance,
                                     const PeerFeeds::Address& from) override {
        return state.membership.came(node, instance, from.to_string(), kNow);
    }
    void heard_of(std::size_t, const Instance&) override { ++times_heard_of; }
    void left(std::size_t) override { ++times_left; }
    void in_sync(std::size_t, std::uint64_t, const summary::Description&) override {
        ++times_in_sync;
    }

    Peering state;
    PeerFeeds feeds;
    Invalidation dropped;
    std::vector<Renewal> renewed;
    bool keeps_late = false;  // what is dropped is done when a test calls one of these
    std::vector<std::function<void()>> to_keep;
    int times_heard_of = 0, times_in_sync = 0, times_left = 0;
};

/// Notes the calls of a publishing end, and answers for the membership.
struct OwnerNotes final : PublisherEnd::Owner {
    base::Result<std::size_t> met(const std::string& node, const Instance&) override {
        met_nodes.push_back(node);
        return answer;
    }
    void met_self() override { ++selves; }
    void up_now() override { ++ups; }
    void confirmed() override { ++confirmations; }

    base::Result<std::size_t> answer = std::size_t{0};
    std::vector<std::string> met_nodes;
    int selves = 0, ups = 0, confirmations = 0;
};

/// A publishing end of a node, over one connection.
struct Publishing {
    explicit Publishing(MachineNode& node, const std::string& to = "b", TimePoint now = kNow)
        : end(std::in_place, node.state, owner, kept, to, counting<Nonce>(1), now) {}

    OwnerNotes owner;
    PublisherEnd::SessionState kept;
    std::optional<PublisherEnd> end;
};

inline std::unique_ptr<SubscriberEnd> subscribing(MachineNode& node, TimePoint now = kNow,
                                                  const std::string& from = "127.0.0.1") {
    auto end = std::make_unique<SubscriberEnd>(node.feeds, boost::asio::ip::make_address(from),
                                               counting<Nonce>(101), now);
    end->set_encrypted(true);
    return end;
}

inline void hand(LinkEnd& to, const LinkEnd::Said& said, TimePoint now) {
    if (const auto* hello = std::get_if<HelloMessage>(&said)) {
        to.on_hello(*hello, now);
    } else {
        to.on_message(std::get<Message>(said), now);
    }
}

/// All that `from` has to say now goes to `to`. How many messages.
inline int pass(LinkEnd& from, LinkEnd& to, TimePoint now) {
    int messages = 0;
    while (const auto said = from.next(now)) {
        hand(to, *said, now);
        ++messages;
    }
    return messages;
}

/// Until neither has anything to say now.
inline void exchange(LinkEnd& one, LinkEnd& other, TimePoint now = kNow) {
    while (pass(one, other, now) + pass(other, one, now) > 0) continue;
}

/// The next thing it says is a T; else a failure, and an empty one.
template <typename T>
T says(LinkEnd& end, TimePoint now = kNow) {
    const auto said = end.next(now);
    if (said) {
        if constexpr (std::is_constructible_v<HelloMessage, T>) {
            if (const auto* hello = std::get_if<HelloMessage>(&*said))
                if (const auto* wanted = std::get_if<T>(hello)) return *wanted;
        } else {
            if (const auto* message = std::get_if<Message>(&*said))
                if (const auto* wanted = std::get_if<T>(message)) return *wanted;
        }
    }
    ADD_FAILURE() << (said ? "it says something else" : "it says nothing");
    return {};
}

inline boost::system::error_code over(const LinkEnd& end, TimePoint now = kNow) {
    return end.over(now).value_or(boost::system::error_code());
}

}  // namespace protocol::test
