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

/// What the workers need to know about the peers. Immutable: a new one is handed out at each change
/// of links, tokens or descriptors, so readers need no lock. (The bits inside `directory` go on
/// changing; it says how.)
struct PeerView {
    struct Peer {
        std::string node;   // empty: nobody has this number now
        HostPort http;      // no host: not known yet, it cannot be asked
        std::string token;  // proves this node in a peer request; empty: the peer asks for none
        bool has_source = false;  // a source supplies its summary now (Neighbourhood)
        bool in_sync = false;
        std::array<std::string, 2> accepted;  // tokens it may send to us, newest first
        /// Which run of the node the token and the summary are of: another number, another run. 0:
        /// it has had no link yet. What was learnt by asking one run says nothing of the next.
        std::uint64_t run = 0;

        /// The peer has a source and an address.
        bool can_be_asked() const { return has_source && !http.host.empty(); }
    };

    /// Each peer is shared with the views before and after in which it is the same: where many
    /// nodes start together there is a new view for each of them, and copying all peers each time
    /// was most of the work.
    class Peers {
    public:
        std::size_t size() const { return peers_.size(); }
        bool empty() const { return peers_.empty(); }
        const Peer& operator[](std::size_t number) const { return *peers_[number]; }

        /// Has every number the same node, or nobody, in both?
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
        std::vector<std::shared_ptr<const Peer>> peers_;  // none is null
    };
    /// By number, by which the directory's PeerSet knows it too. It stays a node's own as long as
    /// that is a peer, and is nobody's for two minutes after.
    Peers peers;
    std::shared_ptr<const summary::Directory> directory;  // null while nobody's summary counts
    /// Every place where a peer is, was found or has come from; a port of 0 is not known. Null:
    /// none.
    std::shared_ptr<const std::vector<PeerPlace>> places;

    /// Index of the peer that proves itself by `node` and `token`; nothing if it does not. The
    /// tokens of its last two links are good, as a reconnect races with requests in flight.
    /// Takes the same time for any wrong token of the right length. Any thread.
    std::optional<std::size_t> authenticate(std::string_view node, std::string_view token) const;
};

}  // namespace protocol
