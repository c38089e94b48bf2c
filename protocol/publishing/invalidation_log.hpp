#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "protocol/publishing/kept_invalidations.hpp"
#include "protocol/wire/message.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// What this node has invalidated and some peer has not yet confirmed, over all links and through
/// their breaks. Numbered from 1. What is invalidated again and again is kept so often as some peer
/// needs it, and a little more until it is looked at: whoever is away is told once. Bounded: what
/// is dropped for want of room costs each peer that has not confirmed it one InvalidateAll. No step
/// looks at all that is kept (tests/bench/steps.cpp). No I/O, no clock. One thread only. Memory: 32
/// bytes for each entry, twice that while as many are dead, and 40 to 80 for each hash.
class InvalidationLog {
public:
    /// `peers`: numbers 0 to peers - 1 are taken; `limit`: entries kept, at least 1.
    InvalidationLog(std::size_t peers, std::size_t limit) : peers_(peers), limit_(limit) {}

    /// So many are kept for whoever may come, though all who are there have confirmed them.
    void keep_for_newcomers(std::size_t entries) { for_newcomers_ = entries; }

    /// Goes on where `earlier` stops, with the same numbers and the same peers. `earlier` keeps the
    /// numbers and no entries.
    void take_over(InvalidationLog& earlier);

    /// What the next run of this node is to go on from, without the peers: those have names
    /// elsewhere. Takes some ms where many are kept.
    KeptInvalidations kept() const;
    /// Goes on from what an earlier run has kept. Precondition: nothing was added, nobody is there.
    void go_on_from(const KeptInvalidations& earlier);
    /// After that, once those have come back who were there: what all have confirmed is not kept.
    void forget_all_confirmed();

    /// There is another peer, which may hold old content: it is sent all that this node has
    /// invalidated, or, if that is not kept, the order to drop everything.
    void add_peer(std::size_t peer);
    /// One is no more: nothing waits for it. What is said of it below has no effect.
    void remove_peer(std::size_t peer);

    /// Returns the number of the last one.
    std::uint64_t add(std::span<const summary::KeyHash> keys,
                      std::span<const summary::KeyHash> tags);
    std::uint64_t last() const { return last_; }

    /// After add_peer(), for one that was removed before: goes on from what it had confirmed then.
    void came_back(std::size_t peer, const KeptInvalidations::Confirmed& then);

    /// A connection to this run of the peer begins: it is sent again all that it has not confirmed.
    /// Another run than the last one has lost what it remembered, so it is sent all that is kept.
    void connected(std::size_t peer, const Instance& run);
    /// What to send to it now, if anything.
    std::optional<Message> next(std::size_t peer);
    bool has_next(std::size_t peer) const { return peers_[peer].sent != last(); }
    /// False when it cannot have applied that: it was never sent to this run of it. What an earlier
    /// connection sent, and this one has not sent again yet, it may well have applied.
    bool confirm(std::size_t peer, std::uint64_t last);

    std::uint64_t confirmed(std::size_t peer) const { return peers_[peer].confirmed; }
    /// That, and which run of it.
    KeptInvalidations::Confirmed standing(std::size_t peer) const {
        return {peers_[peer].confirmed, peers_[peer].run};
    }
    std::uint64_t pending(std::size_t peer) const { return last() - confirmed(peer); }
    /// Hashes sent, again or for the first time, and orders to drop everything.
    std::uint64_t sent(std::size_t peer) const { return peers_[peer].count; }
    /// Entries kept.
    std::size_t size() const { return log_.size() - dead_; }
    /// And those that are still to be taken out: at most as many and 64.
    std::size_t in_memory() const { return log_.size(); }

private:
    /// So many entries are looked at for each that comes. A round through n takes n / 8 new ones,
    /// so at most about that many are kept beyond need.
    static constexpr std::size_t kLooksPerEntry = 8;
    /// More that all have confirmed wait for the next call, which keeps the time of one bounded.
    static constexpr std::size_t kMaxForgottenAtOnce = 16'384;
    static constexpr std::size_t kMaxDead = 64;  // beyond as many as there are living ones
    static constexpr unsigned kShardsLog2 = 9;

    struct Entry : KeptInvalidations::Entry {
        bool is_dead = false;  // passed over, until it is taken out with others
    };
    /// Numbers of entries of one hash.
    struct Seen {
        std::uint64_t last = 0;
        std::uint64_t before = 0;  // the last kept one that the current round has looked at
    };
    /// In many small tables, so that none is large when it doubles.
    using Shard = boost::unordered_flat_map<summary::KeyHash, Seen, summary::HashOfKeyHash>;
    struct Peer {
        std::uint64_t confirmed = 0, sent = 0;  // numbers; sent on this connection
        std::uint64_t highest_sent = 0;         // the highest ever sent to this run of it; >= sent
        std::uint64_t count = 0;
        Instance run{};  // the last that there was a connection to; zeros: none
        bool is_there = true;
    };

    using Position = std::deque<Entry>::iterator;

    Shard& shard_of(const Entry& entry);
    void pop();
    void pop_dead();
    void put(std::span<const summary::KeyHash> hashes, bool are_tags);
    void put(const KeptInvalidations::Entry& entry);
    void tidy(std::size_t looks);
    bool needed(const Entry& entry, Seen& seen) const;
    void forget_confirmed();
    Position after(std::uint64_t number);
    /// The last number before what is kept.
    std::uint64_t begin() const { return log_.empty() ? last_ : log_.front().number - 1; }

    std::vector<Peer> peers_;
    std::size_t limit_;
    std::size_t for_newcomers_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t gone_ = 0;  // the last number that all had confirmed, or that had no room
    std::deque<Entry> log_;   // by number; neither the first nor the last is dead
    std::size_t dead_ = 0;
    std::uint64_t looked_at_ = 0;  // up to this number in the current round
    std::vector<Shard> seen_{std::size_t{2} << kShardsLog2};  // of what lives: keys, then tags
};

}  // namespace protocol
