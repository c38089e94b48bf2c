#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/tls/crypto.hpp"
#include "protocol/wire/error.hpp"
#include "protocol/wire/keys.hpp"
#include "protocol/wire/renewal.hpp"
#include "summary/coding/descriptor.hpp"
#include "summary/sizing/key_hash.hpp"

/// Messages between two nodes; FORMAT.md has their bytes. Payloads are views: of the sender's
/// memory, or of the read buffer. Payloads and descriptors are opaque bytes here; summary/ makes
/// and reads them.
namespace protocol {

using Instance = std::array<std::byte, 16>;  // random; names one process of a node
using Nonce = std::array<std::byte, 32>;

// The hello, in order, and untagged.
struct Hello {  // publisher
    std::vector<KeyId> keys;
    std::string from, to;
    Instance instance{};
    Nonce nonce{};
    summary::Descriptor summary;  // of the summary that it is about to announce
    std::uint64_t rules = 0;      // hash of the rules that change keys; 0: none do
    bool operator==(const Hello&) const = default;
};
struct Challenge {  // subscriber
    KeyId key{};
    std::string from;
    Instance instance{};
    Nonce nonce{};
    base::Mac mac{};
    bool operator==(const Challenge&) const = default;
};
struct Proof {  // publisher
    base::Mac mac{};
    bool operator==(const Proof&) const = default;
};
struct Refusal {  // subscriber, instead of its next message; ends the link
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
/// Number in a subscriber's heartbeat, in place of objects: a message of the publisher on the
/// subscriber's own link also shows life here. Other numbers give the reason why there is no such
/// link (dial_report.hpp).
inline constexpr std::uint64_t kListensElsewhere = 1;

/// Features of a subscriber, as bits: it reads reports; it reads Renewals and soft invalidations;
/// the epoch and the generation of its first heartbeat may be those of a replica that an earlier
/// link of the same instances left. A build that lacks a feature sends 0 in its place.
inline constexpr std::uint8_t kTakesReports = 1, kTakesRenewals = 2, kResumes = 4;

/// From the publisher: its last announcement, sent after all announcements. From the subscriber:
/// the generation of its replica (all zero: none).
struct Heartbeat {
    std::uint64_t epoch = 0, generation = 0, objects = 0;
    /// The sender promises another message within this time, here or on the other link; at most
    /// kMaxBeatInterval. 0: no promise.
    std::chrono::milliseconds next{0};
    std::uint8_t features = 0;  // of a subscriber: bits like kTakesReports; of a publisher: 0
    bool operator==(const Heartbeat&) const = default;
};
struct SnapshotBegin {  // publisher; its payload follows directly, in parts
    std::uint64_t epoch = 0, generation = 0, objects = 0;
    summary::Descriptor summary;
    std::uint64_t payload_bytes = 0;
    bool operator==(const SnapshotBegin&) const = default;
};
struct SnapshotPart {
    base::ByteView payload;
    bool operator==(const SnapshotPart& other) const {
        return std::ranges::equal(payload, other.payload);
    }
};
struct Delta {  // publisher
    std::uint64_t epoch = 0, generation = 0;
    base::ByteView payload;
    bool operator==(const Delta& other) const {
        return epoch == other.epoch && generation == other.generation &&
               std::ranges::equal(payload, other.payload);
    }
};
struct CheckHash {  // publisher; of its summary as announced in `generation`
    std::uint64_t epoch = 0, generation = 0, hash = 0;
    bool operator==(const CheckHash&) const = default;
};
/// From the publisher: responses stored under these keys, or with these tags, became invalid.
/// `last` is the number of its last hash, counted from 1 over all instances of a publisher that
/// remembers them.
struct Invalidate {
    std::uint64_t last = 0;
    std::vector<summary::KeyHash> keys, tags;
    bool soft = false;  // Invalidation::soft; to subscribers with kTakesRenewals alone
    bool operator==(const Invalidate&) const = default;
};
/// From the publisher: everything stored before became invalid, since some hashes up to `last` are
/// forgotten.
struct InvalidateAll {
    std::uint64_t last = 0;
    bool operator==(const InvalidateAll&) const = default;
};
struct Confirm {  // subscriber: everything up to `last` is dropped, even if the node is killed now
    std::uint64_t last = 0;
    bool operator==(const Confirm&) const = default;
};
/// From the publisher, to subscribers with kTakesReports: numbers about its node. The bytes are
/// opaque here; the layer above makes and reads them.
struct Report {
    base::ByteView body;
    bool operator==(const Report& other) const { return std::ranges::equal(body, other.body); }
};
struct Goodbye {  // publisher; the last message
    bool operator==(const Goodbye&) const = default;
};

using HelloMessage = std::variant<Hello, Challenge, Proof, Refusal>;
using Message =
    std::variant<Welcome, SnapshotRequest, Heartbeat, SnapshotBegin, SnapshotPart, Delta, CheckHash,
                 Goodbye, Invalidate, InvalidateAll, Confirm, Report, Renewals>;

}  // namespace protocol
