#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/net/crypto.hpp"
#include "protocol/net/error.hpp"
#include "protocol/wire/keys.hpp"
#include "summary/descriptor.hpp"
#include "summary/key_hash.hpp"

/// What two nodes say to each other; how it looks as bytes is FORMAT.md. Payloads are views: of the
/// encoder's caller when sending, of the read buffer when received. They and the descriptors are
/// bytes here, which only summary/ makes and reads.
namespace protocol {

using Instance = std::array<std::byte, 16>;  // one run of one node
using Nonce = std::array<std::byte, 32>;

// The hello, in order. Not tagged.
struct Hello {  // publisher
    std::vector<KeyId> keys;
    std::string from, to;
    Instance instance{};
    Nonce nonce{};
    summary::Descriptor summary;  // of what it is about to announce
    bool operator==(const Hello&) const = default;
};
struct Challenge {  // subscriber
    KeyId key{};
    std::string from;
    Instance instance{};
    Nonce nonce{};
    Mac mac{};
    bool operator==(const Challenge&) const = default;
};
struct Proof {  // publisher
    Mac mac{};
    bool operator==(const Proof&) const = default;
};
struct Refusal {  // subscriber, instead of its next message; the link then ends
    Error reason = Error::refused;
    bool operator==(const Refusal&) const = default;
};

// Tagged from here on.
struct Welcome {  // subscriber; ends the hello
    bool operator==(const Welcome&) const = default;
};
struct SnapshotRequest {  // subscriber
    bool operator==(const SnapshotRequest&) const = default;
};
/// What a subscriber's heartbeat says in place of objects: it counts as heard from the publisher
/// what it hears of it on the link that it publishes on itself. Or why there is no such link
/// (dial_report.hpp).
inline constexpr std::uint64_t kListensElsewhere = 1;

/// Publisher: what it announced last; goes out when everything announced has gone out. Subscriber:
/// what it holds (all zero: nothing).
struct Heartbeat {
    std::uint64_t epoch = 0, generation = 0, objects = 0;
    /// Its node speaks again within this time, here or where it is heard elsewhere; at most
    /// kMaxBeatInterval. 0: it promises nothing.
    std::chrono::milliseconds next{0};
    bool operator==(const Heartbeat&) const = default;
};
struct SnapshotBegin {  // publisher; its payload follows in parts, with nothing in between
    std::uint64_t epoch = 0, generation = 0, objects = 0;
    summary::Descriptor summary;
    std::uint64_t payload_bytes = 0;
    bool operator==(const SnapshotBegin&) const = default;
};
struct SnapshotPart {
    ByteView payload;
    bool operator==(const SnapshotPart& other) const {
        return std::ranges::equal(payload, other.payload);
    }
};
struct Delta {  // publisher
    std::uint64_t epoch = 0, generation = 0;
    ByteView payload;
    bool operator==(const Delta& other) const {
        return epoch == other.epoch && generation == other.generation &&
               std::ranges::equal(payload, other.payload);
    }
};
struct CheckHash {  // publisher; of its summary as announced in `generation`
    std::uint64_t epoch = 0, generation = 0, hash = 0;
    bool operator==(const CheckHash&) const = default;
};
/// Publisher: what is stored under these keys, or with these tags, no longer counts. `last`: the
/// number of its last hash, counted from 1, over all runs of a publisher that remembers them.
struct Invalidate {
    std::uint64_t last = 0;
    std::vector<summary::KeyHash> keys, tags;
    bool operator==(const Invalidate&) const = default;
};
/// Publisher: nothing that was stored until now counts any longer, as what was invalidated up to
/// `last` cannot be named any more.
struct InvalidateAll {
    std::uint64_t last = 0;
    bool operator==(const InvalidateAll&) const = default;
};
struct Confirm {  // subscriber: all up to `last` is dropped, and stays so even if it is killed
    std::uint64_t last = 0;
    bool operator==(const Confirm&) const = default;
};
struct Goodbye {  // publisher; nothing follows
    bool operator==(const Goodbye&) const = default;
};

using HelloMessage = std::variant<Hello, Challenge, Proof, Refusal>;
using Message = std::variant<Welcome, SnapshotRequest, Heartbeat, SnapshotBegin, SnapshotPart,
                             Delta, CheckHash, Goodbye, Invalidate, InvalidateAll, Confirm>;

}  // namespace protocol
