#include "summary/directory.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace summary {

// A table word holds `span` = 64 / lanes neighbouring positions of each lane; bit lane * span + i
// is position word * span + i of that lane. So a lane's bits are runs of its dense words, and one
// word answers for all lanes.

namespace {

constexpr std::uint64_t peer_bit(unsigned peer) {
    return std::uint64_t{1} << peer;
}

/// All bits whose index has bit `log2` clear: 0x5555... for 0, 0x3333... for 1, and so on.
constexpr std::uint64_t even_runs(unsigned log2) {
    return ~std::uint64_t{0} / ((std::uint64_t{1} << (1U << log2)) + 1);
}

/// One writer: a load and a store are enough, and much cheaper than a locked instruction.
void change(std::uint64_t& word, std::uint64_t mask, std::uint64_t bits) {
    const std::atomic_ref<std::uint64_t> shared(word);
    const auto before = shared.load(std::memory_order_relaxed);
    const auto after = (before & ~mask) | bits;
    if (after != before) shared.store(after, std::memory_order_relaxed);
}

}  // namespace

Directory::Directory(std::span<const Member> members) {
    std::vector<std::vector<const BitArray*>> lanes;  // for each table, what to fill it with
    std::uint64_t loaded = 0;
    for (const auto& member : members) {
        assert(member.peer < kMaxPeers && is_valid(member.shape));
        assert(places_[member.peer].table == kNowhere);
        const auto same = std::find_if(tables_.begin(), tables_.end(), [&](const Table& table) {
            return table.shape == member.shape;
        });
        const auto index = static_cast<std::size_t>(same - tables_.begin());
        if (same == tables_.end()) {
            tables_.emplace_back().shape = member.shape;
            lanes.emplace_back();
        }
        places_[member.peer] = {static_cast<std::uint8_t>(index),
                                static_cast<std::uint8_t>(lanes[index].size())};
        tables_[index].peer_of_lane[lanes[index].size()] = static_cast<std::uint8_t>(member.peer);
        tables_[index].peers |= peer_bit(member.peer);
        lanes[index].push_back(member.bits);
        if (member.bits != nullptr) loaded |= peer_bit(member.peer);
    }
    for (std::size_t i = 0; i < tables_.size(); ++i) fill(tables_[i], lanes[i]);
    active_.store(loaded, std::memory_order_relaxed);
}

void Directory::fill(Table& table, std::span<const BitArray* const> lanes) {
    const auto lane_count = std::bit_ceil(lanes.size());
    const auto lanes_log2 = static_cast<unsigned>(std::countr_zero(lane_count));
    const auto blocks = (table.shape.bits + 63) / 64;
    table.span_log2 = 6 - lanes_log2;
    table.word_count = blocks * lane_count;
    table.words = std::make_unique_for_overwrite<std::uint64_t[]>(table.word_count);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        table.first_bits |= std::uint64_t{1} << (lane << table.span_log2);
    }

    // A block is 64 positions: one dense word of each lane in, as many table words out. Seen as a
    // number, the index of a bit is (lane, position); the lane's bits change places with the upper
    // bits of the position, one pair at a time, by the usual exchange of half words (Warren,
    // Hacker's Delight §7-3).
    for (std::uint64_t block = 0; block < blocks; ++block) {
        auto* const words = table.words.get() + block * lane_count;
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
            const bool given = lane < lanes.size() && lanes[lane] != nullptr;
            words[lane] = given ? lanes[lane]->words()[block] : 0;
        }
        for (unsigned i = 0; i < lanes_log2; ++i) {
            const auto log2 = table.span_log2 + i;
            const auto half = 1U << log2;
            const auto mask = even_runs(log2);
            for (std::size_t low = 0; low < lane_count; ++low) {
                const auto high = low | std::size_t{1} << i;
                if (high == low) continue;
                const auto differing = ((words[low] >> half) ^ words[high]) & mask;
                words[high] ^= differing;
                words[low] ^= differing << half;
            }
        }
    }
}

std::uint64_t Directory::candidates(KeyHash key) const {
    const auto active = active_.load(std::memory_order_relaxed);
    std::uint64_t peers = 0;
    for (const auto& table : tables_) {
        if ((table.peers & active) == 0) continue;
        auto hits = table.first_bits;
        const auto in_word = (std::uint64_t{1} << table.span_log2) - 1;
        for (const auto position : positions(key, table.shape)) {
            const std::atomic_ref<std::uint64_t> word(table.words[position >> table.span_log2]);
            hits &= word.load(std::memory_order_relaxed) >> (position & in_word);
        }
        for (; hits != 0; hits &= hits - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(hits)) >> table.span_log2;
            peers |= peer_bit(table.peer_of_lane[lane]);
        }
    }
    return peers & active;
}

Shape Directory::shape(unsigned peer) const {
    if (peer >= kMaxPeers || places_[peer].table == kNowhere) return {};
    return tables_[places_[peer].table].shape;
}

void Directory::load(unsigned peer, const BitArray& bits) {
    const auto place = places_[peer];
    assert(place.table != kNowhere);
    auto& table = tables_[place.table];
    assert(bits.size() == table.shape.bits);
    const auto span = 1U << table.span_log2;
    const auto run = ~std::uint64_t{0} >> (64 - span);
    const auto shift = static_cast<unsigned>(place.lane) << table.span_log2;
    auto* word = table.words.get();
    for (const auto dense : bits.words()) {
        for (unsigned i = 0; i < 64; i += span) {
            change(*word++, run << shift, ((dense >> i) & run) << shift);
        }
    }
    active_.fetch_or(peer_bit(peer), std::memory_order_relaxed);
}

void Directory::apply(unsigned peer, const Delta& delta) {
    const auto place = places_[peer];
    assert(place.table != kNowhere);
    auto& table = tables_[place.table];
    const auto in_word = (std::uint64_t{1} << table.span_log2) - 1;
    const auto mask_of = [&](std::uint64_t position) {
        return std::uint64_t{1} << ((std::uint64_t{place.lane} << table.span_log2) +
                                    (position & in_word));
    };
    for (const auto position : delta.set) {
        change(table.words[position >> table.span_log2], mask_of(position), mask_of(position));
    }
    for (const auto position : delta.clear) {
        change(table.words[position >> table.span_log2], mask_of(position), 0);
    }
}

void Directory::drop(unsigned peer) {
    assert(peer < kMaxPeers);
    active_.fetch_and(~peer_bit(peer), std::memory_order_relaxed);
}

std::uint64_t Directory::memory_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& table : tables_) bytes += table.word_count * sizeof(std::uint64_t);
    return bytes;
}

}  // namespace summary
