#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/wire/codec.hpp"
#include "protocol/wire/frame.hpp"
#include "protocol/wire/keys.hpp"
#include "tests/base/bytes.hpp"
#include "tests/summary/bloom.hpp"

namespace protocol::test {

using base::test::counting;
using base::test::filled;
using base::test::unhex;
using summary::test::bloom;

/// The name of a cluster key.
inline KeyId key_id(std::string_view cluster_key) {
    return KeyRing({std::string(cluster_key)}).ids().front();
}

inline Bytes sealed(const HelloMessage& message) {
    Bytes bytes;
    seal_hello(message, bytes);
    return bytes;
}

inline Bytes sealed(Sealer& sealer, const Message& message) {
    Bytes bytes;
    sealer.seal(message, bytes);
    return bytes;
}

/// A frame as the buffer hands it out.
inline base::ByteView without_length(const Bytes& frame) {
    return base::ByteView(frame).subspan(kLengthBytes);
}

inline Bytes with_byte(Bytes bytes, std::size_t index, unsigned value) {
    bytes.at(index) = static_cast<std::byte>(value);
    return bytes;
}

}  // namespace protocol::test
