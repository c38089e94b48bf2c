#include "protocol/membership/peer_view.hpp"

#include "base/tls/crypto.hpp"

namespace protocol {

std::optional<std::size_t> PeerView::authenticate(std::string_view node,
                                                  std::string_view token) const {
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (peers[i].node != node || node.empty()) continue;
        bool good = false;
        for (const auto& accepted : peers[i].accepted) {
            const bool equal =
                base::equal_in_constant_time(base::bytes_of(accepted), base::bytes_of(token));
            good = good | (equal & !accepted.empty());
        }
        if (good) return i;
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace protocol
