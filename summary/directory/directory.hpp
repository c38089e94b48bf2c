#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "summary/coding/descriptor.hpp"
#include "summary/coding/filter.hpp"
#include "summary/directory/bloom_table.hpp"
#include "summary/directory/cuckoo_table.hpp"
#include "summary/directory/lane_source.hpp"
#include "summary/directory/lane_table.hpp"
#include "summary/directory/lanes.hpp"
#include "summary/directory/peer_set.hpp"
#include "summary/directory/quotient_table.hpp"
#include "summary/sizing/key.hpp"

namespace summary {

/// Finds the peers that may have a key, for summaries of all kinds. Peers with equal descriptors
/// stand side by side, each in a lane of one table, so one look-up answers for all of them.
///
/// The peers and their descriptors are fixed, except that adopt() gives a spare lane to a newcomer.
/// Another set of peers needs another directory, which readers get as shared_ptr<const Directory>.
/// Any thread may call candidates() at any time and takes no lock; one writer thread calls the
/// functions that change the directory. Filters change bit by bit, so a reader in between sees a
/// slightly older state. Memory: that of the tables.
class Directory {
public:
    struct Member {
        unsigned peer = 0;                  // < kMaxPeers, each once
        Descriptor of;                      // accepted by judge()
        const Filter* filter = nullptr;     // of that descriptor; the constructor loads it (much
                                            // faster than load() for each)
        const Directory* keeper = nullptr;  // another directory that keeps the filter
    };

    /// Loads all members at once.
    explicit Directory(std::span<const Member> members);

    /// Loads members in slices: a peer counts as soon as load_some() has loaded its filter. Until
    /// then, or until drop(), the members' filters and keepers must stay in place. They may change
    /// if the caller passes each change to apply().
    struct InSlices {};
    Directory(std::span<const Member> members, InSlices);
    /// Loads about `words` words of tables. Returns true when all members are loaded.
    bool load_some(std::uint64_t words);
    bool loading() const { return !to_load_.empty(); }

    /// The peers whose summaries match the key.
    PeerSet candidates(const Key& key) const;

    /// The peers that count now: those loaded and still present.
    PeerSet active() const;
    bool is_active(unsigned peer) const;

    /// Writer thread: the descriptor of a peer's filter here; empty for other peers.
    Descriptor descriptor(unsigned peer) const;

    /// Gives a spare lane to one more peer, which counts once it is loaded. Returns false and
    /// leaves the directory unchanged when the peer is a member already, or when every lane of its
    /// table was used before.
    bool adopt(unsigned peer, const Descriptor& of);

    /// Writer thread. The peer must be a member; `filter` and `change` must fit its descriptor.
    void load(unsigned peer, const Filter& filter);
    /// Begins to load a filter in slices, done by load_some(). The peer counts after the last
    /// slice. A member that counts already goes on counting, except if a half-loaded lane could
    /// miss keys (cuckoo).
    void begin_load(unsigned peer, const Filter& filter);
    void apply(unsigned peer, const Change& change);

    /// Writer thread: the lane contains everything that was loaded and applied, so the replica may
    /// drop its filter. Only tables that are filters themselves can do this (quotient).
    bool keeps_filter(unsigned peer) const;
    /// Applies a delta to the lane, as apply_delta() does to a filter. The lane stops keeping the
    /// filter when it finds too little room. Precondition, here and below: keeps_filter(peer).
    std::optional<Change> apply_delta(unsigned peer, std::span<const std::byte> payload);
    std::uint64_t check_hash(unsigned peer) const;

    /// Stops reading the peer's filter. The peer goes on counting with the loaded part.
    void forget(unsigned peer);
    /// The same, and the peer stops counting until it is loaded again. Cheap.
    void drop(unsigned peer);
    /// The peer stops counting, and its summary stays and takes deltas, until activate().
    void deactivate(unsigned peer);
    /// Precondition: the peer's summary is loaded.
    void activate(unsigned peer);

    std::uint64_t memory_bytes() const;

    /// Gives about `words` words back when the directory is discarded. Returns true when all is
    /// given back.
    bool release(std::uint64_t words);

private:
    using Kinds = std::variant<BloomTable, QuotientTable, CuckooTable>;
    static_assert(LaneTable<BloomTable> && LaneTable<QuotientTable> && LaneTable<CuckooTable>);

    /// The filters of all peers with one descriptor.
    struct Table {
        Table(const Descriptor& of, std::size_t lanes);

        Kinds filters;
        Lanes lanes;
        std::vector<LaneSource> sources;  // of the lanes, while the table is loaded
        Descriptor of;
    };
    static Kinds make_table(const Descriptor& of, std::size_t lanes);
    void begin(unsigned peer);

    struct Place {
        std::uint16_t table = kNowhere;
        std::uint16_t lane = 0;
        bool blank = false;  // taken by adopt(), and still empty
    };
    static constexpr std::uint16_t kNowhere = 0xffff;

    /// One table to be loaded from all its lanes, or one peer's lane of it.
    struct LoadJob {
        std::uint16_t table = 0;
        std::optional<unsigned> peer;
        const Filter* source = nullptr;  // of one peer
        bool blank = false;              // its lane has only bits that apply() has set
        std::uint64_t next = 0;          // next block
    };

    Place place(unsigned peer) const { return peer < places_.size() ? places_[peer] : Place{}; }
    void take_lane(std::size_t table, unsigned peer, const LaneSource& source);
    static LaneSource source(const Member& member);
    std::uint64_t load_slice(LoadJob& job, std::uint64_t words);
    void finish(const LoadJob& load_job);

    std::vector<Table> tables_;
    std::vector<Place> places_;  // by peer, up to the highest
    std::deque<LoadJob> to_load_;
    std::array<std::atomic<std::uint64_t>, kMaxPeers / 64> active_{};
    std::atomic<std::size_t> active_words_{0};  // words of active_ in use
};

}  // namespace summary
