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

#include "summary/bloom_table.hpp"
#include "summary/cuckoo_table.hpp"
#include "summary/descriptor.hpp"
#include "summary/filter.hpp"
#include "summary/key.hpp"
#include "summary/lane_source.hpp"
#include "summary/lane_table.hpp"
#include "summary/lanes.hpp"
#include "summary/peer_set.hpp"
#include "summary/quotient_table.hpp"

namespace summary {

/// Which peers may hold a key, whatever kinds their summaries are of. Peers of one descriptor stand
/// side by side, each in a lane of one table, so that one probe answers for all of them.
///
/// The set of peers and their descriptors is fixed, but for those who find a lane to spare; another
/// set is another directory, handed to readers as shared_ptr<const Directory>. candidates() may be
/// called by any thread at any time, without a lock; everything that is not const belongs to one
/// writer thread. Filters change bit by bit: a reader in between sees a slightly older rumour.
/// Memory: as the tables.
class Directory {
public:
    struct Member {
        unsigned peer = 0;               // < kMaxPeers, each once
        Descriptor of;                   // accepted by judge()
        const Filter* filter = nullptr;  // of that sort; loaded at once if given (much faster than
                                         // load() for each)
        const Directory* keeper =
            nullptr;  // the same from another directory that keeps_filter() it
    };

    /// All at once.
    explicit Directory(std::span<const Member> members);

    /// In slices: nobody counts before load_some() has reached him. Until it has, or drop(), the
    /// filters of members, and their holders, must stay where they are; what they hold may change,
    /// if the peer is told of each change by apply().
    struct InSlices {};
    Directory(std::span<const Member> members, InSlices);
    /// About so many words of tables; true when all is filled in.
    bool load_some(std::uint64_t words);
    bool loading() const { return !to_load_.empty(); }

    /// The peers whose summaries claim the key.
    PeerSet candidates(const Key& key) const;

    /// Peers that count now: those loaded and not dropped since.
    PeerSet active() const;
    bool is_active(unsigned peer) const;

    /// Writer thread: the sort of filter a peer has here; empty when it is no member.
    Descriptor descriptor(unsigned peer) const;

    /// Takes in one more peer, which counts once it is loaded. False, and nothing is changed, if it
    /// is a member already or no table of its sort has a lane that was never used.
    bool adopt(unsigned peer, const Descriptor& of);

    /// Writer thread. The peer must be a member, `filter` of its sort, `change` one of that.
    void load(unsigned peer, const Filter& filter);
    /// load() in slices, by load_some(); the peer counts at the end, or goes on counting with more
    /// and more of what is new. Only if that could hide what is old and new (cuckoo), it does not
    /// count meanwhile.
    void begin_load(unsigned peer, const Filter& filter);
    void apply(unsigned peer, const Change& change);

    /// Writer thread: all that was loaded and applied is here, and nobody has to keep the filter
    /// (of kinds whose tables are filters themselves: quotient).
    bool keeps_filter(unsigned peer) const;
    /// Then a delta can be applied here alone; as apply_delta() of a filter. The peer may no longer
    /// be held after one that found no room. Precondition, here and below: keeps_filter(peer).
    std::optional<Change> apply_delta(unsigned peer, std::span<const std::byte> payload);
    std::uint64_t check_hash(unsigned peer) const;

    /// Its filter is not read any more; it counts with what has been loaded.
    void forget(unsigned peer);
    /// The same, and it no longer counts until it is loaded again. Cheap.
    void drop(unsigned peer);

    std::uint64_t memory_bytes() const;

    /// When it is of no more use to anybody: gives about so many words back; true at the end.
    bool release(std::uint64_t words);

private:
    using Kinds = std::variant<BloomTable, QuotientTable, CuckooTable>;
    static_assert(LaneTable<BloomTable> && LaneTable<QuotientTable> && LaneTable<CuckooTable>);

    /// The filters of all peers of one sort.
    struct Table {
        Table(const Descriptor& of, std::size_t lanes);

        Kinds filters;
        Lanes lanes;
        std::vector<LaneSource> sources;  // of the lanes, while it is filled
        Descriptor of;
    };
    static Kinds make_table(const Descriptor& of, std::size_t lanes);
    void begin(unsigned peer);

    struct Place {
        std::uint16_t table = kNowhere;
        std::uint16_t lane = 0;
        bool blank = false;  // taken by adopt(), and nothing loaded into it yet
    };
    static constexpr std::uint16_t kNowhere = 0xffff;

    /// A table to be filled from all its lanes, or one peer's lane of it.
    struct LoadJob {
        std::uint16_t table = 0;
        std::optional<unsigned> peer;
        const Filter* source = nullptr;  // of the one peer
        bool blank = false;              // its lane holds nothing but what apply() set since
        std::uint64_t next = 0;          // block
    };

    Place place(unsigned peer) const { return peer < places_.size() ? places_[peer] : Place{}; }
    void take_lane(std::size_t table, unsigned peer, const LaneSource& source);
    static LaneSource source(const Member& member);
    void activate(unsigned peer);
    void deactivate(unsigned peer);
    std::uint64_t load_slice(LoadJob& job, std::uint64_t words);
    void finish(const LoadJob& load_job);

    std::vector<Table> tables_;
    std::vector<Place> places_;  // by peer, up to the highest
    std::deque<LoadJob> to_load_;
    std::array<std::atomic<std::uint64_t>, kMaxPeers / 64> active_{};
    std::atomic<std::size_t> active_words_{0};  // of active_ in use
};

}  // namespace summary
