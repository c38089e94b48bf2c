#pragma once

#include <cstddef>

namespace proxy {

// What is kept from request to request for its memory remembers the largest request. Whoever waits
// for the next one, perhaps for long, looks at what is kept in all, and gives it back if that is
// much.

/// Bytes that a string or vector keeps for its elements. A string that holds them itself counts
/// them all the same.
template <class Buffer>
std::size_t kept_bytes(const Buffer& buffer) {
    return buffer.capacity() * sizeof(typename Buffer::value_type);
}

/// Empties it and gives all of them back.
template <class Buffer>
void give_back(Buffer& buffer) {
    Buffer().swap(buffer);
}

}  // namespace proxy
