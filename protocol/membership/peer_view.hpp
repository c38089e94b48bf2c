#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/membership/peer_config.hpp"

namespace summary {
class Directory;
}

namespace protocol {

/// The peers as the workers see them. Immutable: each change of links, tokens or descriptors makes
/// a new view, so readers need no lock. (The bits inside `directory` go on changing; see
/// summary::Directory.)
struct PeerView {
    struct Peer {
        std::string node;     // empty: the number is free
        base::HostPort http;  // empty host: unknown, so it is not asked
        std::string token;    // proves this node in a peer request; empty: the peer needs none
        bool in_sync = false;
        std::array<std::string, 2> accepted;  // tokens for its requests to this node, newest first
        /// Identifies the instance of the node that the token and the summary belong to; 0 before
        /// the first. Experience with one instance says little about the next.
        std::uint64_t instance = 0;
        bool encrypted = false;  // its link is, so requests to it are, too
        bool has_feed = false;   // a feed supplies its summary now (Neighbourhood)
        bool renews = false;     // it takes and sends Renewals

        /// Whether the peer has a feed and an address.
        bool can_be_asked() const { return has_feed && !http.host.empty(); }
    };

    /// The peers by number. Consecutive views share an unchanged peer: when many nodes start
    /// together, each of them makes a new view, and copying all peers would be most of the work.
    class Peers {
    public:
        std::size_t size() const { return peers_.size(); }
        bool empty() const { return peers_.empty(); }
        const Peer& operator[](std::size_t number) const { return *peers_[number]; }

        /// Whether each number has the same node, or is free, in both.
        bool same_nodes(const Peers& other) const {
            const auto same = [](const auto& one, const auto& another) {
                return one == another || one->node == another->node;
            };
            return std::equal(peers_.begin(), peers_.end(), other.peers_.begin(),
                              other.peers_.end(), same);
        }

        void resize(std::size_t size) { peers_.resize(size, std::make_shared<const Peer>()); }
        void set(std::size_t number, Peer peer) {
            peers_[number] = std::make_shared<const Peer>(std::move(peer));
        }

    private:
        std::vector<std::shared_ptr<const Peer>> peers_;  // pointers are never null
    };
    /// By number, as in the directory's PeerSet. A number stays with its node while that is a peer,
    /// and is free for two minutes after.
    Peers peers;
    std::shared_ptr<const summary::Directory> directory;  // null while it is empty
    /// Every place where a peer is, was found or has come from; port 0: unknown. May be null.
    std::shared_ptr<const std::vector<PeerPlace>> places;

    /// Returns the number of the peer that proves itself by `node` and `token`, or nullopt. The
    /// tokens of its last two links are good, since a reconnect races with requests in flight. The
    /// time is the same for all wrong tokens of the right length. Any thread.
    std::optional<std::size_t> authenticate(std::string_view node, std::string_view token) const;
};

}  // namespace protocol
