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
        std::string node;
        std::string http_host, http_port;
        std::string token;  // to send to it with a request; empty while there is no link from it
        bool in_step = false;
        std::array<std::string, 2> accepted;  // tokens it may send to us, newest first
    };
    std::vector<Peer> peers;  // index = bit in the directory's mask = order of the configuration
    std::shared_ptr<const summary::Directory> directory;  // null while nobody's summary counts

    /// Index of the peer that proves itself by `node` and `token`; nothing if it does not. The
    /// tokens of its last two links are good, as a reconnect races with requests in flight.
    /// Takes the same time for any wrong token of the right length. Any thread.
    std::optional<std::size_t> authenticate(std::string_view node, std::string_view token) const;
};

}  // namespace protocol
