#include "summary/directory/lane_bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace summary {

// A table word contains `span` = 64 / lanes neighbouring positions of each lane; bit lane * span +
// i is position word * span + i of that lane. So a lane's bits are runs of its dense words, and one
// word answers for all lanes. Beyond 64 lanes a word is one position of 64 of them, and the words
// of a position stand side by side: two cache lines are 1,024 peers.

namespace {

/// All bits whose index has bit `log2` clear: 0x5555... for 0, 0x3333... for 1, and so on.
constexpr std::uint64_t even_runs(unsigned log2) {
    return ~std::uint64_t{0} / ((std::uint64_t{1} << (1U << log2)) + 1);
}

}  // namespace

LaneBits::LaneBits(std::uint64_t bits, std::size_t lanes) : bits_(bits) {
    assert(bits > 0 && lanes > 0);
    const auto in_word = std::bit_ceil(std::min<std::size_t>(lanes, 64));
    span_log2_ = 6 - static_cast<unsigned>(std::countr_zero(in_word));
    words_each_ = (lanes + 63) / 64;
    for (std::size_t lane = 0; lane < in_word; ++lane) {
        first_bits_ |= std::uint64_t{1} << (lane << span_log2_);
    }
    words_ = Words(blocks() * block_words());
}

void LaneBits::load_all(std::span<const std::uint64_t* const> dense, std::uint64_t from,
                        std::uint64_t to) {
    const auto lane_count = lanes_in_word();
    const auto lanes_log2 = 6 - span_log2_;
    const auto stride = words_each_;

    // A block is 64 positions: one dense word of each lane goes in, and as many table words come
    // out. The index of a bit is the number (lane, position). The lane's bits change places with
    // the upper bits of the position, one pair at a time, by the usual exchange of half words
    // (Warren, Hacker's Delight §7-3).
    for (auto block = from; block < to; ++block) {
        for (std::size_t group = 0; group < stride; ++group) {
            std::array<std::uint64_t, 64> words;
            std::uint64_t any = 0;
            for (std::size_t i = 0; i < lane_count; ++i) {
                const auto* const source = dense[group * 64 + i];
                words[i] = source != nullptr ? source[block] : 0;
                any |= words[i];
            }
            auto* const there = words_.data() + block * lane_count * stride + group;
            if (any == 0) {  // pages of zeros stay untouched in an empty lane
                for (std::size_t i = 0; i < lane_count; ++i) {
                    if (there[i * stride] != 0) there[i * stride] = 0;
                }
                continue;
            }
            for (unsigned i = 0; i < lanes_log2; ++i) {
                const auto log2 = span_log2_ + i;
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

void LaneBits::load(std::size_t lane, std::span<const std::uint64_t> dense, std::uint64_t from,
                    bool blank) {
    const auto run = ~std::uint64_t{0} >> (64 - span());
    auto* word = words_.data() + word_of(from * 64) + lane / 64;
    for (const auto bits : dense) {
        if (blank && bits == 0) {
            word += block_words();
            continue;
        }
        for (std::uint64_t i = 0; i < 64; i += span(), word += words_each_) {
            relaxed_change(*word, run << shift(lane), ((bits >> i) & run) << shift(lane));
        }
    }
}

}  // namespace summary
