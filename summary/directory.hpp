#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "summary/bit_array.hpp"
#include "summary/delta.hpp"
#include "summary/key_hash.hpp"
#include "summary/peer_set.hpp"
#include "summary/shape.hpp"
#include "summary/words.hpp"

namespace summary {

/// Which peers may hold a key. Peers of one shape stand side by side, each in a lane of one table,
/// so that one probe answers for all of them; the number of lanes is rounded up to a power of two,
/// and to a multiple of 64 where a position takes several words because more peers share a shape.
///
/// The set of peers and their shapes is fixed, but for those who find a lane to spare; another set
/// is another directory, handed to readers as shared_ptr<const Directory>. candidates() may be
/// called by any thread at any time, without a lock; everything that is not const belongs to one
/// writer thread. Bits change one by one: a reader in between sees a slightly older rumour. Memory:
/// for each shape, bits * lanes / 8 bytes.
class Directory {
public:
    struct Member {
        unsigned peer = 0;               // < kMaxPeers, each once
        Shape shape;                     // is_valid
        const BitArray* bits = nullptr;  // loaded at once if given (much faster than load() for
                                         // each); size = shape.bits
    };

    /// All at once.
    explicit Directory(std::span<const Member> members);

    /// In slices: nobody counts before fill_some() has reached him. Until it has, or drop(), the
    /// bits of members must stay where they are; what they hold may change, if the peer is told of
    /// each change by apply().
    struct InSlices {};
    Directory(std::span<const Member> members, InSlices);
    /// About so many words of tables; true when all is filled in.
    bool fill_some(std::uint64_t words);
    bool filling() const { return !to_fill_.empty(); }

    /// The peers whose summaries claim the key.
    PeerSet candidates(KeyHash key) const;

    /// Peers that count now: those loaded and not dropped since.
    PeerSet active() const;
    bool is_active(unsigned peer) const;

    /// Writer thread: the shape a peer has here; {} when it is no member.
    Shape shape(unsigned peer) const;

    /// Takes in one more peer, which counts once it is loaded. False, and nothing is changed, if it
    /// is a member already or no table of its shape has a lane that was never used.
    bool adopt(unsigned peer, Shape shape);

    /// Writer thread. The peer must be a member, `bits` of its shape, `delta` valid for it.
    void load(unsigned peer, const BitArray& bits);
    /// load() in slices, by fill_some(); the peer counts at the end, or goes on counting with more
    /// and more of the new bits.
    void begin_load(unsigned peer, const BitArray& bits);
    void apply(unsigned peer, const Delta& delta);
    /// Its bits are not read any more; it counts with what has been loaded.
    void forget(unsigned peer);
    /// The same, and it no longer counts until it is loaded again. Cheap.
    void drop(unsigned peer);

    std::uint64_t memory_bytes() const;

    /// When it is of no more use to anybody: gives about so many words back; true at the end.
    bool release(std::uint64_t words);

private:
    struct Table {
        Shape shape;
        unsigned span_log2 = 0;        // a word holds 2^span_log2 positions of each lane
        std::size_t words_each = 1;    // more: of one position, for 64 lanes each
        std::uint64_t first_bits = 0;  // the bits of each lane's first position in a word
        // Words, and these two, are shared with readers while they change.
        std::uint64_t active_lanes = 0;           // how many
        std::vector<std::uint64_t> peer_of_lane;  // kNobody where it was never used
        std::size_t lanes_used = 0;
        Words words;
        std::vector<const BitArray*> sources;  // of the lanes, while it is filled

        /// In one lane (from one to the next there are words_each), and lanes in one word.
        std::size_t words_per_block() const { return std::size_t{64} >> span_log2; }
        std::size_t word_of(std::uint64_t position) const {
            return static_cast<std::size_t>(position >> span_log2) * words_each;
        }
    };
    struct Place {
        std::uint16_t table = kNowhere;
        std::uint16_t lane = 0;
    };
    static constexpr std::uint16_t kNowhere = 0xffff;
    static constexpr std::uint64_t kNobody = kMaxPeers;

    /// A table to be filled from all its lanes, or one peer's lane of it.
    struct Fill {
        std::uint16_t table = 0;
        std::optional<unsigned> peer;
        const BitArray* source = nullptr;  // of the one peer
        std::uint64_t next = 0;            // block of 64 positions
    };

    static void fill(Table& table, std::uint64_t from, std::uint64_t to);
    static void add_peer(const Table& table, std::size_t lane, PeerSet& found);
    static void find_in_narrow(const Table& table, KeyHash key, PeerSet& found);
    static void find_in_wide(const Table& table, KeyHash key, PeerSet& found);
    Place place(unsigned peer) const { return peer < places_.size() ? places_[peer] : Place{}; }
    void take_lane(std::size_t table, unsigned peer, const BitArray* source);
    void activate(unsigned peer);
    void load_blocks(unsigned peer, const BitArray& bits, std::uint64_t from, std::uint64_t to);
    void finish(const Fill& fill);

    std::vector<Table> tables_;
    std::vector<Place> places_;  // by peer, up to the highest
    std::deque<Fill> to_fill_;
    std::array<std::atomic<std::uint64_t>, kMaxPeers / 64> active_{};
    std::atomic<std::size_t> active_words_{0};  // of active_ in use
};

}  // namespace summary
