#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "protocol/message.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// What this node has invalidated and some peer has not yet confirmed, over all links and through
/// their breaks. Numbered from 1. What is invalidated again and again is kept so often as some peer
/// needs it, not more: whoever is away is told once. Bounded: what is dropped for want of room
/// costs each peer that has not confirmed it one InvalidateAll. No I/O, no clock. One thread only.
class InvalidationLog {
public:
    /// `limit`: entries kept, at least 1.
    InvalidationLog(std::size_t peers, std::size_t limit) : peers_(peers), limit_(limit) {}

    /// Goes on where `earlier` stops, with the same numbers. `was`: for each peer its index there;
    /// nothing for a new one, which is sent all that is kept.
    void take_over(const InvalidationLog& earlier, std::span<const std::optional<std::size_t>> was);

    /// Returns the number of the last one.
    std::uint64_t add(std::span<const summary::KeyHash> keys,
                      std::span<const summary::KeyHash> tags);
    std::uint64_t last() const { return last_; }

    /// A peer that was listed before, but not in the log that was taken over: goes on from what it
    /// had confirmed then.
    void came_back(std::size_t peer, std::uint64_t confirmed);

    /// A connection to the peer begins: it is sent again all that it has not confirmed. A new run
    /// of it has lost what it remembered, so it is sent all that is kept.
    void connected(std::size_t peer, bool new_run);
    /// What to send to it now, if anything.
    std::optional<Message> next(std::size_t peer);
    /// False when it cannot have applied that: it was never sent to this run of it. What an earlier
    /// connection sent, and this one has not sent again yet, it may well have applied.
    bool confirm(std::size_t peer, std::uint64_t last);

    std::uint64_t confirmed(std::size_t peer) const { return peers_[peer].confirmed; }
    std::uint64_t pending(std::size_t peer) const { return last() - confirmed(peer); }
    /// Hashes sent, again or for the first time, and orders to drop everything.
    std::uint64_t sent(std::size_t peer) const { return peers_[peer].count; }
    /// Entries kept.
    std::size_t size() const { return log_.size(); }

private:
    static constexpr std::size_t kTidyFrom = 1024;

    struct Entry {
        std::uint64_t number = 0;
        summary::KeyHash hash;
        bool is_tag = false;
    };
    struct Peer {
        std::uint64_t confirmed = 0, sent = 0;  // numbers; sent on this connection
        std::uint64_t told = 0;                 // the highest ever sent to this run of it
        std::uint64_t count = 0;
    };

    void pop();
    void put(std::span<const summary::KeyHash> hashes, bool are_tags);
    void make_room();
    void tidy();
    void forget_confirmed();
    std::deque<Entry>::iterator after(std::uint64_t number);
    /// The last number before what is kept.
    std::uint64_t begin() const { return log_.empty() ? last_ : log_.front().number - 1; }

    std::vector<Peer> peers_;
    std::size_t limit_;
    std::uint64_t last_ = 0;
    std::uint64_t gone_ = 0;  // the last number that all had confirmed, or that had no room
    std::deque<Entry> log_;   // by number
    std::size_t tidy_at_ = kTidyFrom;
};

}  // namespace protocol
