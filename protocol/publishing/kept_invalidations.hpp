#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/wire/message.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// What a node has to know of its own invalidations after its end, so that its next run can tell
/// peers what they have not confirmed. A plain value: whoever has a disk keeps it there
/// (proxy/storage/invalidation_journal).
struct KeptInvalidations {
    struct Entry {
        std::uint64_t number = 0;
        summary::KeyHash hash;
        bool is_tag = false;
        bool operator==(const Entry&) const = default;
    };
    /// How far a peer is.
    struct Confirmed {
        std::uint64_t number = 0;
        Instance run{};  // of the peer: another one has forgotten; zeros: not known, so another one
        bool operator==(const Confirmed&) const = default;
    };
    using ConfirmedByNode = std::map<std::string, Confirmed>;

    /// Whoever has not confirmed this one can be told only to drop everything.
    std::uint64_t gone = 0;
    std::uint64_t last = 0;      // that was made; the next run counts on from it
    std::vector<Entry> entries;  // ascending, above `gone`, up to `last`
    /// By node: peers, and those that were. Whoever is not there has confirmed nothing.
    ConfirmedByNode confirmed;

    bool operator==(const KeptInvalidations&) const = default;
};

}  // namespace protocol
