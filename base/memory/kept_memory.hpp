#pragma once

#include <cstddef>

namespace base {

// A buffer that serves request after request keeps the memory of the largest one. A connection that
// waits for its next request frees the memory of its buffers if they keep much in all.

/// Bytes that a string or vector keeps for its elements, those inside a short string included.
template <class Buffer>
std::size_t kept_bytes(const Buffer& buffer) {
    return buffer.capacity() * sizeof(typename Buffer::value_type);
}

/// Empties the buffer and frees its memory.
template <class Buffer>
void give_back(Buffer& buffer) {
    Buffer().swap(buffer);
}

}  // namespace base
