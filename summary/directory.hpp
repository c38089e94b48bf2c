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
#include "summary/shape.hpp"
#include "summary/words.hpp"

namespace summary {

inline constexpr unsigned kMaxPeers = 64;

/// Which peers may hold a key. Peers of one shape stand side by side, each in a lane of one table,
/// so that one probe answers for all of them; the number of lanes is rounded up to a power of two.
///
/// The set of peers and their shapes is fixed; another set is another directory, handed to readers
/// as shared_ptr<const Directory>. candidates() may be called by any thread at any time, without a
/// lock; everything that is not const belongs to one writer thread. Bits change one by one: a
/// reader in between sees a slightly older rumour. Memory: for each shape, bits * lanes / 8 bytes.
class Directory {
public:
    struct Member {
        unsigned peer = 0;               // < kMaxPeers, each once; its bit in candidates()
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

    /// Bit `peer` is set when that peer's summary claims the key.
    std::uint64_t candidates(KeyHash key) const;

    /// Peers that count now: those loaded and not dropped since.
    std::uint64_t active() const { return active_.load(std::memory_order_relaxed); }

    /// The shape a peer has here; {} when it is no member.
    Shape shape(unsigned peer) const;

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
        std::uint64_t first_bits = 0;  // the bits of each lane's first position in a word
        std::uint64_t peers = 0;
        std::array<std::uint8_t, kMaxPeers> peer_of_lane{};
        Words words;
        std::array<const BitArray*, kMaxPeers> sources{};  // of the lanes, while it is filled
    };
    struct Place {
        std::uint8_t table = kNowhere;
        std::uint8_t lane = 0;
    };
    static constexpr std::uint8_t kNowhere = 0xff;

    /// A table to be filled from all its lanes, or one peer's lane of it.
    struct Fill {
        std::uint8_t table = 0;
        std::optional<unsigned> peer;
        const BitArray* source = nullptr;  // of the one peer
        std::uint64_t next = 0;            // block of 64 positions
    };

    static void fill(Table& table, std::uint64_t from, std::uint64_t to);
    void load_blocks(unsigned peer, const BitArray& bits, std::uint64_t from, std::uint64_t to);
    void finish(const Fill& fill);

    std::vector<Table> tables_;
    std::array<Place, kMaxPeers> places_;
    std::deque<Fill> to_fill_;
    std::atomic<std::uint64_t> active_{0};
};

}  // namespace summary
