#pragma once

#include <cstdint>

namespace proxy {

/// The connections that a new one finds.
struct ConnectionLoad {
    std::uint64_t open = 0, allowed = 0;  // connections of all clients
    std::uint64_t of_address = 0,
                  share = 0;  // those of its address, without it; and the most for an address
};

/// Whether a new connection is taken.
enum class ConnectionVerdict : std::uint8_t {
    free,
    if_room_is_made,      // all are taken: see may_make_room()
    if_own_address_does,  // its address has all of its share
};

inline ConnectionVerdict judge_connection(const ConnectionLoad& load) {
    if (load.of_address >= load.share) return ConnectionVerdict::if_own_address_does;
    return load.open < load.allowed ? ConnectionVerdict::free : ConnectionVerdict::if_room_is_made;
}

/// May a connection that waits for a request end for the new one? It may if it is of the same
/// address, or of an address with more connections (`of_its_address`) than the new one's. So a
/// crowd makes room for the few, and never the other way round.
inline bool may_make_room(ConnectionVerdict verdict, const ConnectionLoad& load,
                          std::uint64_t of_its_address, bool same_address) {
    if (same_address) return true;
    return verdict == ConnectionVerdict::if_room_is_made && of_its_address > load.of_address + 1;
}

}  // namespace proxy
