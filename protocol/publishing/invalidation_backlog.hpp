#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/wire/message.hpp"
#include "summary/sizing/key_hash.hpp"

namespace protocol {

/// The invalidations that outlive a node, so that its next instance can send peers those that they
/// have yet to confirm. A plain value; proxy/storage/invalidation_journal keeps it on disk.
struct InvalidationBacklog {
    struct Entry {
        std::uint64_t number = 0;
        summary::KeyHash hash;
        bool is_tag = false;
        bool operator==(const Entry&) const = default;
    };
    /// Progress of a peer.
    struct PeerProgress {
        std::uint64_t number = 0;
        Instance instance{};  // of the peer; another has lost its memory; zeros: unknown
        bool operator==(const PeerProgress&) const = default;
    };
    using ConfirmedByNode = std::map<std::string, PeerProgress>;

    /// A peer that has not confirmed this number has to drop everything.
    std::uint64_t gone = 0;
    std::uint64_t last = 0;      // number; the next instance continues it
    std::vector<Entry> entries;  // ascending, above `gone`, up to `last`
    /// By name, for peers and former peers. A missing name has confirmed nothing.
    ConfirmedByNode confirmed;

    bool operator==(const InvalidationBacklog&) const = default;
};

}  // namespace protocol
