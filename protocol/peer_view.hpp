#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace summary {
class Directory;
}

namespace protocol {

/// What the workers need to know about the peers. Immutable: a new one is handed out at each change
/// of links, tokens or shapes, so readers need no lock. (The bits inside `directory` go on
/// changing; it says how.)
struct PeerView {
    struct Peer {
        std::string node;                  // empty: nobody has this number now
        std::string http_host, http_port;  // no host: not known yet, it cannot be asked
        std::string token;  // to send to it with a request; empty while there is no link from it
        bool in_step = false;
        std::array<std::string, 2> accepted;  // tokens it may send to us, newest first

        /// It is known where to ask it, and it would know us.
        bool can_be_asked() const { return !token.empty() && !http_host.empty(); }
    };
    /// By number, which is also the bit in the directory's mask. It stays a node's own as long as
    /// that is a peer, and is nobody's for two minutes after.
    std::vector<Peer> peers;
    std::shared_ptr<const summary::Directory> directory;  // null while nobody's summary counts

    /// Index of the peer that proves itself by `node` and `token`; nothing if it does not. The
    /// tokens of its last two links are good, as a reconnect races with requests in flight.
    /// Takes the same time for any wrong token of the right length. Any thread.
    std::optional<std::size_t> authenticate(std::string_view node, std::string_view token) const;
};

}  // namespace protocol
