#include "protocol/links/cluster_status.hpp"

namespace protocol {

std::string_view name(PeerState state) noexcept {
    switch (state) {
        case PeerState::connecting:
            return "connecting";
        case PeerState::hello:
            return "hello";
        case PeerState::waiting_snapshot:
            return "waiting_snapshot";
        case PeerState::in_sync:
            return "in_step";
        case PeerState::lagging:
            return "behind";
        case PeerState::no_address:
            return "no_address";
        case PeerState::one_way:
            return "one_way";
        case PeerState::withdrawn:
            return "withdrawn";
        case PeerState::gone:
            return "gone";
        case PeerState::refused:
            return "refused";
    }
    return "unknown";
}

}  // namespace protocol
