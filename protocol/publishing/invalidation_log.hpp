#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "protocol/publishing/invalidation_backlog.hpp"
#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/message.hpp"
#include "summary/sizing/key_hash.hpp"

namespace protocol {

/// The invalidations of this node that a peer has yet to confirm, across all links and their
/// breaks, numbered from 1. Repeated invalidations of one hash are kept as often as a peer needs
/// them, and a little longer until the log looks at them, so a peer that was away gets each hash
/// once. The size is bounded: a peer that has not confirmed a discarded entry gets one
/// InvalidateAll. A step looks at a bounded part of the log (tests/bench/steps.cpp). Uses neither
/// I/O nor a clock. One thread only. Memory: 32 bytes for each entry, twice that while as many are
/// dead, and 40 to 80 bytes for each hash.
class InvalidationLog {
public:
    /// `peers`: numbers 0 to peers - 1 are taken. `limit`: entries kept, at least 1.
    InvalidationLog(std::size_t peers, std::size_t limit) : peers_(peers), limit_(limit) {}

    /// Keeps this many entries for newcomers, even if all peers have confirmed them.
    void keep_for_newcomers(std::size_t entries) { for_newcomers_ = entries; }

    /// Goes on with the numbers, the entries and the peers of `earlier`, which keeps its numbers
    /// alone.
    void take_over(InvalidationLog& earlier);

    /// The entries for the next instance of this node. Peers are left out, as their names are kept
    /// elsewhere. Takes some milliseconds with many entries.
    InvalidationBacklog kept() const;
    /// Goes on with the entries of an earlier instance. Precondition: the log is empty and has no
    /// peers.
    void go_on_from(const InvalidationBacklog& earlier);
    /// Drops the entries that all peers have confirmed. Called after go_on_from(), when the known
    /// peers are back.
    void forget_all_confirmed();

    /// A new peer, which may store old content. It gets all kept invalidations, or the order to
    /// drop everything if some are gone.
    void add_peer(std::size_t peer);
    /// The peer is gone, and the log stops waiting for it. Later calls for it have no effect.
    void remove_peer(std::size_t peer);

    /// Adds entries, and returns the number of the last. Precondition: !what.all.
    std::uint64_t add(const Invalidation& what);
    std::uint64_t last() const { return last_; }

    /// Restores the confirmed number of a peer that was removed before. Called after add_peer().
    void came_back(std::size_t peer, const InvalidationBacklog::PeerProgress& then);

    /// A connection to this instance of the peer begins. It gets all unconfirmed entries again. A
    /// different instance has lost its memory, and gets all kept entries.
    void connected(std::size_t peer, const Instance& instance);
    /// Returns the next message for the peer, if any. `softly`: the peer takes soft invalidations;
    /// another one gets them as others. So do all peers after a restart of this node.
    std::optional<Message> next(std::size_t peer, bool softly);
    bool has_next(std::size_t peer) const { return peers_[peer].sent != last(); }
    /// Returns false for a number that was never sent to this instance of the peer. A number that
    /// an earlier connection sent is fine, even before this one repeats it.
    bool confirm(std::size_t peer, std::uint64_t last);

    std::uint64_t confirmed(std::size_t peer) const { return peers_[peer].confirmed; }
    /// That number, and the instance of the peer.
    InvalidationBacklog::PeerProgress standing(std::size_t peer) const {
        return {peers_[peer].confirmed, peers_[peer].instance};
    }
    std::uint64_t pending(std::size_t peer) const { return last() - confirmed(peer); }
    /// Counts hashes sent, repeated ones included, and orders to drop everything.
    std::uint64_t sent(std::size_t peer) const { return peers_[peer].count; }
    /// Entries kept.
    std::size_t size() const { return log_.size() - dead_; }
    /// Entries kept and dead ones, at most twice size() and 64.
    std::size_t in_memory() const { return log_.size(); }

private:
    /// Entries looked at for each new one. A round through n entries takes n / 8 new ones, so at
    /// most about that many superfluous entries are kept.
    static constexpr std::size_t kLooksPerEntry = 8;
    /// More confirmed entries wait for the next call, which bounds the time of one call.
    static constexpr std::size_t kMaxForgottenAtOnce = 16'384;
    static constexpr std::size_t kMaxDead = 64;  // more than the living ones
    static constexpr unsigned kShardsLog2 = 9;

    struct Entry : InvalidationBacklog::Entry {
        bool is_soft = false;
        bool is_dead = false;  // skipped until it is removed together with others
    };
    /// Numbers of the entries of one hash.
    struct HashEntries {
        std::uint64_t last = 0;
        std::uint64_t before = 0;  // last kept entry that the current round has seen
    };
    /// Many small tables, so that a table is small when it doubles.
    using Shard = boost::unordered_flat_map<summary::KeyHash, HashEntries, summary::HashOfKeyHash>;
    struct Peer {
        std::uint64_t confirmed = 0, sent = 0;  // numbers; sent on this connection
        std::uint64_t highest_sent = 0;         // to this instance; at least `sent`
        std::uint64_t count = 0;
        Instance instance{};  // of the latest connection; zeros before the first
        bool is_there = true;
    };

    using Position = std::deque<Entry>::iterator;

    Shard& shard_of(const Entry& entry);
    void pop();
    void pop_dead();
    void put(std::span<const summary::KeyHash> hashes, bool are_tags, bool are_soft);
    void put(const Entry& entry);
    void tidy(std::size_t looks);
    bool needed(const Entry& entry, HashEntries& seen) const;
    void forget_confirmed();
    Position after(std::uint64_t number);
    /// The last number before the kept entries.
    std::uint64_t begin() const { return log_.empty() ? last_ : log_.front().number - 1; }

    std::vector<Peer> peers_;
    std::size_t limit_;
    std::size_t for_newcomers_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t gone_ = 0;  // the last number that all had confirmed, or that was discarded
    std::deque<Entry> log_;   // by number; the first and the last are alive
    std::size_t dead_ = 0;
    std::uint64_t looked_at_ = 0;  // the current round has come so far
    // Of living entries: keys, then tags, then both of soft invalidations. None of those stands for
    // one that ends.
    std::vector<Shard> seen_{std::size_t{4} << kShardsLog2};
};

}  // namespace protocol
