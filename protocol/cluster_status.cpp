#include "protocol/cluster_status.hpp"

namespace protocol {

std::string_view name(PeerState state) noexcept {
    switch (state) {
        case PeerState::connecting:
            return "connecting";
        case PeerState::hello:
            return "hello";
        case PeerState::waiting_snapshot:
            return "waiting_snapshot";
        case PeerState::in_step:
            return "in_step";
        case PeerState::behind:
            return "behind";
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
