#pragma once

#include <cstdint>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace protocol {

/// Tells the other holders of a key that the origin has just confirmed or sent what this node
/// stores under it. It is a hint, which may be lost, and its meaning belongs to proxy/fetch.
struct Renewal {
    summary::KeyHash key;
    std::uint64_t version = 0;  // of the stored head and the length; 0: unknown
    std::uint64_t date = 0;     // Date and Expires of the response, in seconds since 1970; 0: none
    std::uint64_t expires = 0;
    std::uint32_t age_ms = 0;  // since the origin confirmed or sent it
    bool operator==(const Renewal&) const = default;
};

/// A message from the publisher, to subscribers with kTakesRenewals: at most kMaxRenewalsAtOnce.
struct Renewals {
    std::uint64_t sent_ms = 0;  // by the sender's wall clock, since 1970; 0: unknown
    std::vector<Renewal> list;
    bool operator==(const Renewals&) const = default;
};

}  // namespace protocol
