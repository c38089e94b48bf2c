#include "summary/directory/bloom_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace summary {

namespace {

const BitArray& bits_of(const Filter& filter) {
    return std::get<BloomFilter>(filter).bits();
}

}  // namespace

BloomTable::BloomTable(Shape shape, std::size_t lanes) : shape_(shape), bits_(shape.bits, lanes) {
    assert(is_valid(shape));
}

void BloomTable::load_all(std::span<const LaneSource> sources, std::uint64_t from,
                          std::uint64_t to) {
    std::array<const std::uint64_t*, kMaxPeers> dense;
    std::transform(sources.begin(), sources.end(), dense.begin(), [](const LaneSource& source) {
        return source.filter != nullptr ? bits_of(*source.filter).words().data() : nullptr;
    });
    bits_.load_all(std::span(dense).first(sources.size()), from, to);
}

void BloomTable::load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t to,
                      bool blank) {
    assert(bits_of(source).size() == shape_.bits);
    bits_.load(lane, bits_of(source).words().subspan(from, to - from), from, blank);
}

void BloomTable::apply(std::size_t lane, const Change& change) {
    const auto& delta = std::get<Delta>(change);
    for (const auto position : delta.set) bits_.turn(lane, position, true);
    for (const auto position : delta.clear) bits_.turn(lane, position, false);
}

void BloomTable::find_in_narrow(KeyHash key, const Lanes& lanes, PeerSet& found) const {
    auto hits = bits_.first_bits();
    for (const auto position : positions(key, shape_)) hits &= bits_.narrow(position);
    for (; hits != 0; hits &= hits - 1) {
        lanes.add_peer(bits_.lane_at(static_cast<unsigned>(std::countr_zero(hits))), found);
    }
}

void BloomTable::find_in_wide(KeyHash key, const Lanes& lanes, PeerSet& found) const {
    constexpr std::size_t kWordsInLine = 8;
    const auto words_each = bits_.words_each();
    const auto where = positions(key, shape_);
    // The lines are fetched together, however long the work on the first takes.
    for (const auto position : where) {
        for (std::size_t i = 0; i < words_each; i += kWordsInLine) {
            __builtin_prefetch(bits_.wide(position) + i);
        }
    }
    std::array<std::uint64_t, kMaxPeers / 64> hits;
    std::fill_n(hits.begin(), words_each, ~std::uint64_t{0});
    for (const auto position : where) {
        const auto* const words = bits_.wide(position);
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < words_each; ++i) any |= hits[i] &= relaxed_load(words[i]);
        if (any == 0) return;
    }
    for (std::size_t i = 0; i < words_each; ++i) {
        for (auto word = hits[i]; word != 0; word &= word - 1) {
            lanes.add_peer(i * 64 + static_cast<std::size_t>(std::countr_zero(word)), found);
        }
    }
}

}  // namespace summary
