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

Directory::Directory(std::span<const Member> members) : Directory(members, InSlices{}) {
    fill_some(~std::uint64_t{0});
}

Directory::Directory(std::span<const Member> members, InSlices) {
    std::vector<std::size_t> lanes;  // of each table
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
        auto& table = tables_[index];
        const auto lane = lanes[index]++;
        places_[member.peer] = {static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(lane)};
        table.peer_of_lane[lane] = static_cast<std::uint8_t>(member.peer);
        table.peers |= peer_bit(member.peer);
        table.sources[lane] = member.bits;
    }
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        auto& table = tables_[i];
        const auto lane_count = std::bit_ceil(lanes[i]);
        table.span_log2 = 6 - static_cast<unsigned>(std::countr_zero(lane_count));
        table.words = Words((table.shape.bits + 63) / 64 * lane_count);
        for (std::size_t lane = 0; lane < lanes[i]; ++lane) {
            table.first_bits |= std::uint64_t{1} << (lane << table.span_log2);
        }
        to_fill_.push_back({static_cast<std::uint8_t>(i), std::nullopt, nullptr, 0});
    }
}

bool Directory::fill_some(std::uint64_t words) {
    while (!to_fill_.empty() && words > 0) {
        auto& job = to_fill_.front();
        auto& table = tables_[job.table];
        const auto blocks = (table.shape.bits + 63) / 64;
        const auto per_block = std::uint64_t{64} >> table.span_log2;
        const auto size =
            std::min(std::max<std::uint64_t>(words / per_block, 1), blocks - job.next);
        if (!job.peer) {
            fill(table, job.next, job.next + size);
        } else if (job.source != nullptr) {
            load_blocks(*job.peer, *job.source, job.next, job.next + size);
        }
        job.next += size;
        words -= std::min(words, size * per_block);
        if (job.next < blocks) continue;
        finish(job);
        to_fill_.pop_front();
    }
    return to_fill_.empty();
}

void Directory::finish(const Fill& done) {
    auto& table = tables_[done.table];
    std::uint64_t loaded = 0;
    if (done.peer) {
        if (done.source != nullptr) loaded = peer_bit(*done.peer);
    } else {
        for (std::size_t lane = 0; lane < table.sources.size(); ++lane) {
            if (table.sources[lane] != nullptr) loaded |= peer_bit(table.peer_of_lane[lane]);
        }
        table.sources.fill(nullptr);
    }
    active_.fetch_or(loaded, std::memory_order_relaxed);
}

/// Blocks [from, to); nobody reads them yet.
void Directory::fill(Table& table, std::uint64_t from, std::uint64_t to) {
    const auto lane_count = std::size_t{64} >> table.span_log2;
    const auto lanes_log2 = 6 - table.span_log2;

    // A block is 64 positions: one dense word of each lane in, as many table words out. Seen as a
    // number, the index of a bit is (lane, position); the lane's bits change places with the upper
    // bits of the position, one pair at a time, by the usual exchange of half words (Warren,
    // Hacker's Delight §7-3).
    for (auto block = from; block < to; ++block) {
        std::array<std::uint64_t, kMaxPeers> words;
        std::uint64_t any = 0;
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
            const auto* const source = table.sources[lane];
            words[lane] = source != nullptr ? source->words()[block] : 0;
            any |= words[lane];
        }
        auto* const there = table.words.data() + block * lane_count;
        if (any == 0) {  // pages of zeros are not touched, if nothing came before
            for (std::size_t i = 0; i < lane_count; ++i) {
                if (there[i] != 0) there[i] = 0;
            }
            continue;
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
        std::copy_n(words.begin(), lane_count, there);
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
            // An atomic_ref wants something that it could write to, though it only reads.
            auto& there = const_cast<std::uint64_t&>(table.words[position >> table.span_log2]);
            const std::atomic_ref<std::uint64_t> word(there);
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
    load_blocks(peer, bits, 0, (bits.size() + 63) / 64);
    active_.fetch_or(peer_bit(peer), std::memory_order_relaxed);
}

void Directory::begin_load(unsigned peer, const BitArray& bits) {
    const auto place = places_[peer];
    assert(place.table != kNowhere && bits.size() == tables_[place.table].shape.bits);
    std::erase_if(to_fill_, [&](const Fill& fill) { return fill.peer == peer; });
    auto& source = tables_[place.table].sources[place.lane];
    const auto filled = std::find_if(to_fill_.begin(), to_fill_.end(), [&](const Fill& fill) {
        return fill.table == place.table && !fill.peer;
    });
    if (filled != to_fill_.end() && filled->next == 0) {
        source = &bits;
        return;
    }
    source = nullptr;  // it has been filled in part with something else
    to_fill_.push_back({place.table, peer, &bits, 0});
}

void Directory::load_blocks(unsigned peer, const BitArray& bits, std::uint64_t from,
                            std::uint64_t to) {
    const auto place = places_[peer];
    assert(place.table != kNowhere);
    auto& table = tables_[place.table];
    assert(bits.size() == table.shape.bits);
    const auto span = 1U << table.span_log2;
    const auto run = ~std::uint64_t{0} >> (64 - span);
    const auto shift = static_cast<unsigned>(place.lane) << table.span_log2;
    auto* word = table.words.data() + from * (64 / span);
    for (const auto dense : bits.words().subspan(from, to - from)) {
        for (unsigned i = 0; i < 64; i += span) {
            change(*word++, run << shift, ((dense >> i) & run) << shift);
        }
    }
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
    active_.fetch_and(~peer_bit(peer), std::memory_order_relaxed);
    forget(peer);
}

void Directory::forget(unsigned peer) {
    assert(peer < kMaxPeers);
    const auto place = places_[peer];
    if (place.table == kNowhere) return;
    tables_[place.table].sources[place.lane] = nullptr;
    std::erase_if(to_fill_, [&](const Fill& fill) { return fill.peer == peer; });
}

std::uint64_t Directory::memory_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& table : tables_) bytes += table.words.size() * sizeof(std::uint64_t);
    return bytes;
}

bool Directory::release(std::uint64_t words) {
    if (!tables_.empty() && tables_.back().words.release(words)) tables_.pop_back();
    return tables_.empty();
}

}  // namespace summary
