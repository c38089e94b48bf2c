#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/async/error.hpp"
#include "protocol/wire/message.hpp"

/// Converts messages to the type and body of a frame, and back. Decoders check every field, demand
/// that the body ends with the last field, and allocate at most as much as the given bytes. Errors:
/// unknown_frame, malformed_frame.
namespace protocol {

using Bytes = std::vector<std::byte>;

/// Type byte of a frame.
enum class FrameType : std::uint8_t {
    hello = 1,
    challenge = 2,
    proof = 3,
    refusal = 4,  // the same layout in all versions
    hello_with_rules = 5,
    welcome = 16,
    snapshot_request = 17,
    heartbeat = 18,
    snapshot_begin = 19,
    snapshot_part = 20,
    delta = 21,
    check_hash = 22,
    goodbye = 23,
    invalidate = 24,
    invalidate_all = 25,
    confirm = 26,
    invalidate_prefixes = 27,  // an invalidate with is_prefix_tag() among its tags
    report = 28,
    renewals = 29,
    invalidate_softly = 30,
};

inline constexpr std::size_t kMaxReportBytes = 1024;
/// Of these, the section that the link itself appends: its id, its length, and the clock.
inline constexpr std::size_t kReportClockBytes = 10;
inline constexpr std::uint8_t kReportClockSection = 4;
inline constexpr std::size_t kKeyHashBytes = 16;
inline constexpr std::size_t kInvalidateHeadBytes = 12;     // last, count of keys
inline constexpr std::size_t kMaxInvalidatedAtOnce = 1024;  // hashes in one frame
inline constexpr std::size_t kRenewalsHeadBytes = 8;        // sent
inline constexpr std::size_t kRenewalBytes = 44;
inline constexpr std::size_t kMaxRenewalsAtOnce = 256;  // in one frame

FrameType type_of(const HelloMessage& message);
FrameType type_of(const Message& message);

/// Appends the body.
void encode_body(const HelloMessage& message, Bytes& out);
void encode_body(const Message& message, Bytes& out);

base::Result<HelloMessage> decode_hello(std::uint8_t type, base::ByteView body);
base::Result<Message> decode(std::uint8_t type, base::ByteView body);

}  // namespace protocol
