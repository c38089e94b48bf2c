#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/async/error.hpp"
#include "base/tls/crypto.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/error.hpp"
#include "protocol/wire/keys.hpp"
#include "protocol/wire/message.hpp"

/// Frames: the envelope of a message on the wire. FORMAT.md has layout and limits. Free of
/// I/O; one thread per object.
namespace protocol {

inline constexpr std::uint8_t kProtocolVersion = 3;
inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kHeadBytes = 2;  // version, type
inline constexpr std::size_t kSequenceBytes = 8;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kTaggedOverheadBytes =
    kLengthBytes + kHeadBytes + kSequenceBytes + kTagBytes;

// Limits of the length prefix.
inline constexpr std::size_t kMaxHelloFrameBytes = 512;
inline constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20;

inline constexpr std::size_t kMaxDeltaPayloadBytes =
    kMaxFrameBytes - 64;  // a larger delta becomes a snapshot
inline constexpr std::size_t kSnapshotPartBytes = std::size_t{64} << 10;
static_assert(kMaxDeltaPayloadBytes + kHeadBytes + kSequenceBytes + 16 + kTagBytes <=
              kMaxFrameBytes);
static_assert(kInvalidateHeadBytes + kMaxInvalidatedAtOnce * kKeyHashBytes + kHeadBytes +
                  kSequenceBytes + kTagBytes <=
              kMaxFrameBytes);
static_assert(kSnapshotPartBytes + kHeadBytes + kSequenceBytes + kTagBytes <= kMaxFrameBytes);

/// Cuts a byte stream into frames. It keeps at most one frame of the current limit, and the bytes
/// that one read brought beyond it; half a kilobyte while little comes.
class FrameBuffer {
public:
    /// Returns room for the bytes of the next read, never empty. Invalidates frames returned
    /// before.
    std::span<std::byte> prepare();
    void commit(std::size_t bytes);

    /// Returns the next whole frame, if it has arrived, and leaves out its length prefix. The
    /// length is checked as soon as it arrives, before memory is taken. Errors: frame_too_large
    /// (above `max_bytes`), frame_too_short. An error makes the rest of the stream meaningless.
    base::Result<std::optional<base::ByteView>> next(std::size_t max_bytes);

private:
    std::vector<std::byte> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t wanted_ = 0;     // bytes that the present frame needs from begin_ on
    std::size_t last_read_ = 0;  // bytes
};

/// A frame of the hello, appended with its length prefix.
void seal_hello(const HelloMessage& message, Bytes& out);
/// Errors: wrong_version, unknown_frame, malformed_frame. Reads a refusal of any version.
base::Result<HelloMessage> open_hello(base::ByteView frame);

/// Tags the frames of one direction of one link.
class Sealer {
public:
    explicit Sealer(const LinkKey& key) : mac_(key) {}
    /// Appends the frame with its length prefix.
    void seal(const Message& message, Bytes& out);

private:
    base::HmacSha256 mac_;
    std::uint64_t sequence_ = 0;
};

/// Checks and opens the frames of a Sealer.
class Opener {
public:
    explicit Opener(const LinkKey& key) : mac_(key) {}
    /// Errors: frame_too_short, wrong_version, bad_tag, bad_sequence, unknown_frame,
    /// malformed_frame. The message may view `frame`.
    base::Result<Message> open(base::ByteView frame);

private:
    base::HmacSha256 mac_;
    std::uint64_t sequence_ = 0;
};

}  // namespace protocol
