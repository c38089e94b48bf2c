#include "summary/directory.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace summary {

// A table word holds `span` = 64 / lanes neighbouring positions of each lane; bit lane * span + i
// is position word * span + i of that lane. So a lane's bits are runs of its dense words, and one
// word answers for all lanes. Beyond 64 lanes a word is one position of 64 of them, and the words
// of a position stand side by side: two cache lines are 1,024 peers.

namespace {

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

/// An atomic_ref wants something that it could write to, though this only reads.
std::uint64_t read(const std::uint64_t& word) {
    const std::atomic_ref<std::uint64_t> shared(const_cast<std::uint64_t&>(word));
    return shared.load(std::memory_order_relaxed);
}

}  // namespace

Directory::Directory(std::span<const Member> members) : Directory(members, InSlices{}) {
    fill_some(~std::uint64_t{0});
}

Directory::Directory(std::span<const Member> members, InSlices) {
    std::vector<std::size_t> tables;  // of the members
    std::vector<std::size_t> lanes;   // of the tables
    for (const auto& member : members) {
        assert(member.peer < kMaxPeers && is_valid(member.shape));
        const auto same = std::find_if(tables_.begin(), tables_.end(), [&](const Table& table) {
            return table.shape == member.shape;
        });
        tables.push_back(static_cast<std::size_t>(same - tables_.begin()));
        if (same == tables_.end()) {
            tables_.emplace_back().shape = member.shape;
            lanes.push_back(0);
        }
        ++lanes[tables.back()];
    }
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        auto& table = tables_[i];
        const auto in_word = std::bit_ceil(std::min<std::size_t>(lanes[i], 64));
        table.span_log2 = 6 - static_cast<unsigned>(std::countr_zero(in_word));
        table.words_each = (lanes[i] + 63) / 64;
        for (std::size_t lane = 0; lane < in_word; ++lane) {
            table.first_bits |= std::uint64_t{1} << (lane << table.span_log2);
        }
        table.peer_of_lane.resize(in_word * table.words_each, kNobody);
        table.sources.resize(in_word * table.words_each);
        table.words = Words((table.shape.bits + 63) / 64 * in_word * table.words_each);
        to_fill_.push_back({static_cast<std::uint16_t>(i), std::nullopt, nullptr, 0});
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        assert(place(members[i].peer).table == kNowhere);
        take_lane(tables[i], members[i].peer, members[i].bits);
    }
}

void Directory::take_lane(std::size_t index, unsigned peer, const BitArray* source) {
    auto& table = tables_[index];
    const auto lane = table.lanes_used++;
    if (places_.size() <= peer) places_.resize(peer + 1);
    places_[peer] = {static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(lane)};
    change(table.peer_of_lane[lane], ~std::uint64_t{0}, peer);
    table.sources[lane] = source;
    active_words_ = std::max<std::size_t>(active_words_, peer / 64 + 1);
}

bool Directory::adopt(unsigned peer, Shape shape) {
    assert(peer < kMaxPeers);
    if (place(peer).table != kNowhere) return false;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        const auto& table = tables_[i];
        if (table.shape != shape || table.lanes_used == table.peer_of_lane.size()) continue;
        take_lane(i, peer, nullptr);
        return true;
    }
    return false;
}

bool Directory::fill_some(std::uint64_t words) {
    while (!to_fill_.empty() && words > 0) {
        auto& job = to_fill_.front();
        auto& table = tables_[job.table];
        const auto blocks = (table.shape.bits + 63) / 64;
        const auto per_block = table.words_per_block() * (job.peer ? 1 : table.words_each);
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
    if (done.peer) {
        if (done.source != nullptr) activate(*done.peer);
    } else {
        for (std::size_t lane = 0; lane < table.sources.size(); ++lane) {
            if (table.sources[lane] == nullptr) continue;
            activate(static_cast<unsigned>(table.peer_of_lane[lane]));
        }
        std::fill(table.sources.begin(), table.sources.end(), nullptr);
    }
}

/// Blocks [from, to); nobody reads them yet.
void Directory::fill(Table& table, std::uint64_t from, std::uint64_t to) {
    const auto lane_count = table.words_per_block();
    const auto lanes_log2 = 6 - table.span_log2;
    const auto stride = table.words_each;

    // A block is 64 positions: one dense word of each lane in, as many table words out. Seen as a
    // number, the index of a bit is (lane, position); the lane's bits change places with the upper
    // bits of the position, one pair at a time, by the usual exchange of half words (Warren,
    // Hacker's Delight §7-3).
    for (auto block = from; block < to; ++block) {
        for (std::size_t group = 0; group < stride; ++group) {
            std::array<std::uint64_t, 64> words;
            std::uint64_t any = 0;
            for (std::size_t i = 0; i < lane_count; ++i) {
                const auto* const source = table.sources[group * 64 + i];
                words[i] = source != nullptr ? source->words()[block] : 0;
                any |= words[i];
            }
            auto* const there = table.words.data() + block * lane_count * stride + group;
            if (any == 0) {  // pages of zeros are not touched, if nothing came before
                for (std::size_t i = 0; i < lane_count; ++i) {
                    if (there[i * stride] != 0) there[i * stride] = 0;
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
            for (std::size_t i = 0; i < lane_count; ++i) there[i * stride] = words[i];
        }
    }
}

PeerSet Directory::candidates(KeyHash key) const {
    const auto active = this->active();
    PeerSet found;
    for (const auto& table : tables_) {
        if (read(table.active_lanes) == 0) continue;
        if (table.words_each == 1) {
            find_in_narrow(table, key, found);
        } else {
            find_in_wide(table, key, found);
        }
    }
    return found &= active;
}

/// A lane that has just been taken may show its bits before it shows whose they are.
void Directory::add_peer(const Table& table, std::size_t lane, PeerSet& found) {
    const auto peer = read(table.peer_of_lane[lane]);
    if (peer != kNobody) found.insert(static_cast<unsigned>(peer));
}

void Directory::find_in_narrow(const Table& table, KeyHash key, PeerSet& found) {
    auto hits = table.first_bits;
    const auto in_word = (std::uint64_t{1} << table.span_log2) - 1;
    for (const auto position : positions(key, table.shape)) {
        hits &= read(table.words[table.word_of(position)]) >> (position & in_word);
    }
    for (; hits != 0; hits &= hits - 1) {
        add_peer(table, static_cast<unsigned>(std::countr_zero(hits)) >> table.span_log2, found);
    }
}

void Directory::find_in_wide(const Table& table, KeyHash key, PeerSet& found) {
    constexpr std::size_t kWordsInLine = 8;
    const auto where = positions(key, table.shape);
    // The lines come at the same time, however long the work on the first takes.
    for (const auto position : where) {
        for (std::size_t i = 0; i < table.words_each; i += kWordsInLine) {
            __builtin_prefetch(&table.words[table.word_of(position) + i]);
        }
    }
    std::array<std::uint64_t, kMaxPeers / 64> hits;
    std::fill_n(hits.begin(), table.words_each, ~std::uint64_t{0});
    for (const auto position : where) {
        const auto* const words = &table.words[table.word_of(position)];
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < table.words_each; ++i) any |= hits[i] &= read(words[i]);
        if (any == 0) return;
    }
    for (std::size_t i = 0; i < table.words_each; ++i) {
        for (auto word = hits[i]; word != 0; word &= word - 1) {
            add_peer(table, i * 64 + static_cast<std::size_t>(std::countr_zero(word)), found);
        }
    }
}

PeerSet Directory::active() const {
    PeerSet result;
    const auto words = active_words_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < words; ++i) {
        result.insert_word(i, active_[i].load(std::memory_order_relaxed));
    }
    return result;
}

bool Directory::is_active(unsigned peer) const {
    return peer < kMaxPeers &&
           (active_[peer / 64].load(std::memory_order_relaxed) >> (peer % 64) & 1) != 0;
}

void Directory::activate(unsigned peer) {
    if (is_active(peer)) return;
    auto& count = tables_[place(peer).table].active_lanes;
    change(count, ~std::uint64_t{0}, count + 1);
    active_[peer / 64].fetch_or(std::uint64_t{1} << (peer % 64), std::memory_order_relaxed);
}

Shape Directory::shape(unsigned peer) const {
    const auto place = this->place(peer);
    return place.table == kNowhere ? Shape{} : tables_[place.table].shape;
}

void Directory::load(unsigned peer, const BitArray& bits) {
    load_blocks(peer, bits, 0, (bits.size() + 63) / 64);
    activate(peer);
}

void Directory::begin_load(unsigned peer, const BitArray& bits) {
    const auto place = this->place(peer);
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
    const auto place = this->place(peer);
    assert(place.table != kNowhere);
    auto& table = tables_[place.table];
    assert(bits.size() == table.shape.bits);
    const auto span = 1U << table.span_log2;
    const auto run = ~std::uint64_t{0} >> (64 - span);
    const auto shift = (place.lane % 64U) << table.span_log2;
    auto* word = table.words.data() + table.word_of(from * 64) + place.lane / 64;
    for (const auto dense : bits.words().subspan(from, to - from)) {
        for (unsigned i = 0; i < 64; i += span, word += table.words_each) {
            change(*word, run << shift, ((dense >> i) & run) << shift);
        }
    }
}

void Directory::apply(unsigned peer, const Delta& delta) {
    const auto place = this->place(peer);
    assert(place.table != kNowhere);
    auto& table = tables_[place.table];
    const auto in_word = (std::uint64_t{1} << table.span_log2) - 1;
    const auto shift = (place.lane % 64U) << table.span_log2;
    const auto turn = [&](std::uint64_t position, bool on) {
        const auto mask = std::uint64_t{1} << (shift + (position & in_word));
        change(table.words[table.word_of(position) + place.lane / 64], mask, on ? mask : 0);
    };
    for (const auto position : delta.set) turn(position, true);
    for (const auto position : delta.clear) turn(position, false);
}

void Directory::drop(unsigned peer) {
    if (is_active(peer)) {
        active_[peer / 64].fetch_and(~(std::uint64_t{1} << (peer % 64)), std::memory_order_relaxed);
        auto& count = tables_[place(peer).table].active_lanes;
        change(count, ~std::uint64_t{0}, count - 1);
    }
    forget(peer);
}

void Directory::forget(unsigned peer) {
    const auto place = this->place(peer);
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
