#include "summary/quotient_filter.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "summary/packed_bits.hpp"
#include "summary/rank_select.hpp"
#include "summary/shared_words.hpp"

namespace summary {

namespace {

constexpr std::size_t kWordsInLine = 8;
constexpr unsigned kCountBits = 12;
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 19;  // of a start from where it is nominal
static_assert(QuotientFilter::kMostInBlock >> kCountBits == 0);

std::uint64_t quotients(const QuotientShape& shape) {
    return ((shape.universe - 1) >> shape.remainder_bits) + 1;
}

/// With what moves and prefetches may look at behind the end.
std::uint64_t words_for(std::uint64_t bits) {
    return bits / 64 + 2 + kWordsInLine;
}

}  // namespace

bool is_valid(const QuotientShape& shape) {
    return shape.universe >= 1 && shape.universe <= kMaxUniverse && shape.remainder_bits >= 1 &&
           shape.remainder_bits <= kMaxRemainderBits && quotients(shape) <= kMaxQuotients &&
           quotients(shape) / 64 <= shape.capacity && shape.capacity >= 1 &&
           shape.capacity <= kMaxFingerprints;
}

std::uint64_t memory_bytes(const QuotientShape& shape) {
    return QuotientFilter::memory_of(shape);
}

std::uint64_t most_fingerprints(const QuotientShape& shape) {
    return shape.capacity + shape.capacity / 16 + 16;
}

QuotientShape quotient_shape(std::uint64_t universe, std::uint64_t capacity) {
    const auto each = std::max<std::uint64_t>(universe / std::max<std::uint64_t>(capacity, 1), 1);
    const auto bits = static_cast<unsigned>(std::bit_width(each)) - 1;
    return {universe, std::clamp(bits, 1U, kMaxRemainderBits), capacity};
}

/// Marks what changes for readers, as long as it lives.
class QuotientFilter::Change {
public:
    Change(QuotientFilter& filter, std::uint64_t first, std::uint64_t last)
        : filter_(filter), first_(first >> kRegionLog2), last_(last >> kRegionLog2) {
        for (auto i = first_; i <= last_; ++i) {
            const std::atomic_ref<std::uint32_t> version(filter_.versions_[i]);
            version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
    }
    ~Change() {
        for (auto i = first_; i <= last_; ++i) {
            shared_store(filter_.versions_[i], filter_.versions_[i] + 1);
        }
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

private:
    QuotientFilter& filter_;
    std::uint64_t first_;
    std::uint64_t last_;
};

QuotientFilter::QuotientFilter(const QuotientShape& shape, const Limits& limits)
    : shape_(shape), limits_(limits) {
    assert(shape.remainder_bits >= 1 && shape.remainder_bits <= kMaxRemainderBits);
    assert(shape.universe >= 1 && shape.capacity >= 1 && limits.in_block <= kMostInBlock);
    for (unsigned at = 0; at + shape.remainder_bits <= 64; at += shape.remainder_bits) {
        lows_ |= std::uint64_t{1} << at;
    }
    const auto blocks = blocks_of(shape);
    slots_ = most_fingerprints(shape);
    step_ = (slots_ << kStepBits) / blocks;
    occupied_ = Words(blocks);
    run_ends_ = Words(words_for(slots_));
    remainders_ = Words(words_for(slots_ * shape.remainder_bits));
    blocks_ = HalfWords(blocks);
    versions_ = HalfWords(regions_of(blocks));
    counts_ = HalfWords(versions_.size());
    groups_ = HalfWords(groups_of(blocks));
}

std::uint64_t QuotientFilter::blocks_of(const QuotientShape& shape) {
    return (quotients(shape) + (1U << kBlockLog2) - 1) >> kBlockLog2;
}

std::uint64_t QuotientFilter::memory_of(const QuotientShape& shape) {
    const auto blocks = blocks_of(shape);
    const auto slots = most_fingerprints(shape);
    return (blocks + words_for(slots) + words_for(slots * shape.remainder_bits)) *
               sizeof(std::uint64_t) +
           (blocks + 2 * regions_of(blocks) + groups_of(blocks)) * sizeof(std::uint32_t);
}

QuotientFilter::Block QuotientFilter::block(std::uint64_t index) const {
    const auto word = shared_load(blocks_[index]);
    const auto relative = std::int64_t{static_cast<std::int32_t>(word) >> kCountBits};
    return {nominal(index) + static_cast<std::uint64_t>(relative), word & kMostInBlock};
}

bool QuotientFilter::can_start_at(std::uint64_t block, std::uint64_t start) const {
    return start + kFarthest - nominal(block) < 2 * kFarthest;
}

void QuotientFilter::set_block(std::uint64_t index, Block block) {
    const auto relative = block.start - nominal(index);
    shared_store(blocks_[index], static_cast<std::uint32_t>(relative << kCountBits | block.count));
}

std::uint64_t QuotientFilter::remainder(std::uint64_t slot) const {
    const auto at = slot * shape_.remainder_bits;
    return window(remainders_, at) & low_bits(shape_.remainder_bits);
}

void QuotientFilter::set_remainder(std::uint64_t slot, std::uint64_t remainder) {
    put_bits(remainders_, slot * shape_.remainder_bits, shape_.remainder_bits, remainder);
}

bool QuotientFilter::ends_run(std::uint64_t slot) const {
    return (shared_load(run_ends_[slot / 64]) >> (slot % 64) & 1) != 0;
}

void QuotientFilter::set_ends_run(std::uint64_t slot, bool ends) {
    auto& word = run_ends_[slot / 64];
    const auto bit = std::uint64_t{1} << (slot % 64);
    shared_store(word, ends ? word | bit : word & ~bit);
}

/// One past the end of the run before. A reader between two states may not find that: any slot of
/// the block will do then, as its version tells it so.
std::uint64_t QuotientFilter::run_start(Block block, unsigned run) const {
    if (run == 0) return block.start;
    for (auto at = block.start; at < block.end(); at += 64) {
        const auto size = std::min<std::uint64_t>(block.end() - at, 64);
        const auto word = window(run_ends_, at) & low_bits(static_cast<unsigned>(size));
        const auto here = ones(word);
        if (here >= run) return at + select_one(word, run - 1) + 1;
        run -= here;
    }
    return block.end();
}

/// The lines of a block's remainders, while others are read that say which of them is wanted.
void QuotientFilter::prefetch_block(Block block) const {
    const auto* const first = remainders_.data() + block.start * shape_.remainder_bits / 64;
    __builtin_prefetch(first);
    __builtin_prefetch(first + kWordsInLine);
}

bool QuotientFilter::find(std::uint64_t fingerprint) const {
    const auto quotient = fingerprint >> shape_.remainder_bits;
    const auto wanted = fingerprint & low_bits(shape_.remainder_bits);
    const auto index = quotient >> kBlockLog2;
    const auto in_block = static_cast<unsigned>(quotient % 64);
    const auto runs = shared_load(occupied_[index]);
    if ((runs >> in_block & 1) == 0) return false;
    const auto block = this->block(index);
    prefetch_block(block);
    for (auto slot = run_start(block, ones(runs & low_bits(in_block))); slot < block.end();
         ++slot) {
        const auto here = remainder(slot);
        if (here >= wanted) return here == wanted;
        if (ends_run(slot)) return false;
    }
    return false;
}

bool QuotientFilter::contains(std::uint64_t fingerprint) const {
    assert(fingerprint < shape_.universe);
    const auto& version =
        versions_[fingerprint >> (shape_.remainder_bits + kBlockLog2 + kRegionLog2)];
    for (unsigned i = 0; i < kAttempts; ++i) {
        const auto before = shared_load(version);
        if (before % 2 != 0) continue;
        const bool found = find(fingerprint);
        const std::atomic_ref<std::uint32_t> now(const_cast<std::uint32_t&>(version));
        if (now.load(std::memory_order_relaxed) == before) return found;
    }
    return true;
}

unsigned QuotientFilter::runs_before(Block block, std::uint64_t slot) const {
    unsigned runs = 0;
    for (auto at = block.start; at < slot; at += 64) {
        const auto size = std::min<std::uint64_t>(slot - at, 64);
        runs += ones(window(run_ends_, at) & low_bits(static_cast<unsigned>(size)));
    }
    return runs;
}

void QuotientFilter::prefetch_claims(std::uint64_t first) const {
    const auto index = first >> kBlockLog2;
    const auto start = nominal(index);
    __builtin_prefetch(&versions_[index >> kRegionLog2]);
    __builtin_prefetch(&occupied_[index]);
    __builtin_prefetch(&blocks_[index]);
    __builtin_prefetch(&run_ends_[start / 64]);
    prefetch_block({start, 0});
}

/// All remainders of the runs are compared, as many at a time as a word has in a row; few agree.
std::uint64_t QuotientFilter::find_claims(std::uint64_t first, unsigned count,
                                          std::uint64_t wanted) const {
    const auto index = first >> kBlockLog2;
    const auto in_block = static_cast<unsigned>(first % 64);
    const auto runs = shared_load(occupied_[index]);
    const auto asked = low_bits(count) << in_block;
    if ((runs & asked) == 0) return 0;
    const auto block = this->block(index);
    prefetch_block(block);
    const auto before = ones(runs & low_bits(in_block));
    const auto last = before + ones(runs & asked);
    auto slot = run_start(block, before);
    const auto end = last == ones(runs) ? block.end() : run_start(block, last);

    const auto bits = shape_.remainder_bits;
    const auto in_a_row = 64 / bits;
    const auto pattern = wanted * lows_;
    std::uint64_t found = 0;
    for (; slot < end; slot += in_a_row) {
        const auto differing = window(remainders_, slot * bits) ^ pattern;
        // Of remainders that do not differ the top bits are among these; so may be some above.
        auto same = bits == 1 ? ~differing : (differing - lows_) & ~differing & lows_ << (bits - 1);
        for (; same != 0; same &= same - 1) {
            const auto i = static_cast<unsigned>(std::countr_zero(same)) / bits;
            if (slot + i >= end) break;
            if ((differing >> (i * bits) & low_bits(bits)) != 0) continue;
            const auto run = runs_before(block, slot + i);
            // A reader between two states may find more runs than there are.
            if (run < ones(runs)) found |= std::uint64_t{1} << select_one(runs, run);
        }
    }
    return (found & asked) >> in_block;
}

std::uint64_t QuotientFilter::claims(std::uint64_t first, unsigned count,
                                     std::uint64_t wanted) const {
    const auto index = first >> kBlockLog2;
    const auto& version = versions_[index >> kRegionLog2];
    for (unsigned i = 0; i < kAttempts; ++i) {
        const auto before = shared_load(version);
        if (before % 2 != 0) continue;
        const auto found = find_claims(first, count, wanted);
        const std::atomic_ref<std::uint32_t> now(const_cast<std::uint32_t&>(version));
        if (now.load(std::memory_order_relaxed) == before) return found;
    }
    return shared_load(occupied_[index]) >> (first % 64) & low_bits(count);
}

void QuotientFilter::move_up(std::uint64_t from, std::uint64_t to, std::uint64_t slots) {
    const std::uint64_t bits = shape_.remainder_bits;
    move_bits_up(run_ends_, from, to, slots);
    move_bits_up(remainders_, from * bits, to * bits, slots * bits);
}

void QuotientFilter::move_down(std::uint64_t from, std::uint64_t to, std::uint64_t slots) {
    const std::uint64_t bits = shape_.remainder_bits;
    move_bits_down(run_ends_, from, to, slots);
    move_bits_down(remainders_, from * bits, to * bits, slots * bits);
}

/// Half of what is free behind `last` goes before `first`.
bool QuotientFilter::push_up(std::uint64_t first, std::uint64_t last) {
    const auto end = block(last).end();
    const auto by = (start_of(last + 1) - end + 1) / 2;
    for (auto i = first; i <= last; ++i) {
        if (!can_start_at(i, block(i).start + by)) return false;
    }
    const Change change(*this, first, last);
    move_up(block(first).start, end, by);
    for (auto i = first; i <= last; ++i) {
        const auto moved = block(i);
        set_block(i, {moved.start + by, moved.count});
    }
    return true;
}

/// Half of what is free before `first` goes behind `last`.
bool QuotientFilter::push_down(std::uint64_t first, std::uint64_t last) {
    const auto start = block(first).start;
    const auto by = (start - (first == 0 ? 0 : block(first - 1).end()) + 1) / 2;
    for (auto i = first; i <= last; ++i) {
        if (!can_start_at(i, block(i).start - by)) return false;
    }
    const Change change(*this, first, last);
    move_down(start, block(last).end(), by);
    for (auto i = first; i <= last; ++i) {
        const auto moved = block(i);
        set_block(i, {moved.start - by, moved.count});
    }
    return true;
}

/// A free slot behind the block, from the nearest place that has one.
bool QuotientFilter::make_room(std::uint64_t index) {
    for (std::uint64_t away = 1; away <= limits_.reach; ++away) {
        const auto last = index + away;
        if (last < block_count() && block(last).end() < start_of(last + 1)) {
            return push_up(index + 1, last);
        }
        if (index + 1 < away) {
            if (last >= block_count()) return false;
            continue;
        }
        const auto first = index + 1 - away;
        if (block(first).start > (first == 0 ? 0 : block(first - 1).end())) {
            return push_down(first, index);
        }
    }
    return false;
}

void QuotientFilter::count(std::uint64_t block, std::uint64_t change) {
    size_ += change;
    counts_[block >> kRegionLog2] += static_cast<std::uint32_t>(change);
    groups_[block >> kRegionLog2 >> kGroupLog2] += static_cast<std::uint32_t>(change);
}

bool QuotientFilter::insert(std::uint64_t fingerprint) {
    assert(fingerprint < shape_.universe);
    const auto quotient = fingerprint >> shape_.remainder_bits;
    const auto added = fingerprint & low_bits(shape_.remainder_bits);
    const auto index = quotient >> kBlockLog2;
    const auto in_block = static_cast<unsigned>(quotient % 64);
    auto there = block(index);
    prefetch_block(there);
    if (there.count == limits_.in_block) return false;
    if (there.end() == start_of(index + 1)) {
        if (!make_room(index)) return false;
        there = block(index);
    }
    const auto runs = occupied_[index];
    const bool new_run = (runs >> in_block & 1) == 0;
    auto slot = run_start(there, ones(runs & low_bits(in_block)));
    bool is_last = new_run;
    if (!new_run) {
        for (; !is_last && remainder(slot) < added; ++slot) is_last = ends_run(slot);
    }
    const Change change(*this, index, index);
    const auto bits = shape_.remainder_bits;
    insert_bits(remainders_, slot * bits, there.end() * bits, bits, added);
    insert_bits(run_ends_, slot, there.end(), 1, is_last ? 1 : 0);
    if (is_last && !new_run) set_ends_run(slot - 1, false);
    if (new_run) shared_store(occupied_[index], runs | std::uint64_t{1} << in_block);
    set_block(index, {there.start, there.count + 1});
    count(index, 1);
    check_ += check_term(fingerprint);
    return true;
}

bool QuotientFilter::erase(std::uint64_t fingerprint) {
    assert(fingerprint < shape_.universe);
    const auto quotient = fingerprint >> shape_.remainder_bits;
    const auto wanted = fingerprint & low_bits(shape_.remainder_bits);
    const auto index = quotient >> kBlockLog2;
    const auto in_block = static_cast<unsigned>(quotient % 64);
    const auto runs = occupied_[index];
    if ((runs >> in_block & 1) == 0) return false;

    const auto there = block(index);
    prefetch_block(there);
    const auto first = run_start(there, ones(runs & low_bits(in_block)));
    auto slot = first;
    while (remainder(slot) < wanted && !ends_run(slot)) ++slot;
    if (remainder(slot) != wanted) return false;
    const bool was_last = ends_run(slot);
    const Change change(*this, index, index);
    if (was_last && slot == first) {
        shared_store(occupied_[index], runs & ~(std::uint64_t{1} << in_block));
    } else if (was_last) {
        set_ends_run(slot - 1, true);
    }
    const auto bits = shape_.remainder_bits;
    remove_bits(remainders_, slot * bits, there.end() * bits, bits);
    remove_bits(run_ends_, slot, there.end(), 1);
    set_block(index, {there.start, there.count - 1});
    count(index, ~std::uint64_t{0});
    check_ -= check_term(fingerprint);
    return true;
}

std::uint64_t QuotientFilter::rank(std::uint64_t fingerprint) const {
    assert(fingerprint < shape_.universe);
    const auto quotient = fingerprint >> shape_.remainder_bits;
    const auto wanted = fingerprint & low_bits(shape_.remainder_bits);
    const auto index = quotient >> kBlockLog2;
    const auto in_block = static_cast<unsigned>(quotient % 64);
    const auto region = index >> kRegionLog2;
    const auto group = region >> kGroupLog2;
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < group; ++i) before += groups_[i];
    for (auto i = group << kGroupLog2; i < region; ++i) before += counts_[i];
    for (auto i = region << kRegionLog2; i < index; ++i) before += block(i).count;

    const auto there = block(index);
    const auto runs = occupied_[index];
    auto slot = run_start(there, ones(runs & low_bits(in_block)));
    if ((runs >> in_block & 1) != 0) {
        for (bool last = false; !last && remainder(slot) < wanted; ++slot) last = ends_run(slot);
    }
    return before + (slot - there.start);
}

std::uint64_t QuotientFilter::at(std::uint64_t rank) const {
    assert(rank < size_);
    std::uint64_t group = 0;
    for (; rank >= groups_[group]; ++group) rank -= groups_[group];
    auto region = group << kGroupLog2;
    for (; rank >= counts_[region]; ++region) rank -= counts_[region];
    auto index = region << kRegionLog2;
    for (; rank >= block(index).count; ++index) rank -= block(index).count;

    const auto there = block(index);
    unsigned run = 0;  // ends before the slot
    for (std::uint64_t at = 0; at < rank; at += 64) {
        const auto size = static_cast<unsigned>(std::min<std::uint64_t>(rank - at, 64));
        run += ones(window(run_ends_, there.start + at) & low_bits(size));
    }
    const auto quotient = index << kBlockLog2 | select_one(occupied_[index], run);
    return quotient << shape_.remainder_bits | remainder(there.start + rank);
}

std::uint64_t QuotientFilter::run_length(std::uint64_t quotient) const {
    const auto index = quotient >> kBlockLog2;
    const auto in_block = static_cast<unsigned>(quotient % 64);
    const auto runs = occupied_[index];
    if ((runs >> in_block & 1) == 0) return 0;
    const auto start = run_start(block(index), ones(runs & low_bits(in_block)));
    auto at = start;
    auto ends = window(run_ends_, at);
    for (; ends == 0; ends = window(run_ends_, at)) at += 64;
    return at - start + static_cast<unsigned>(std::countr_zero(ends)) + 1;
}

std::uint64_t QuotientFilter::in_run(std::uint64_t quotient, std::uint64_t index) const {
    const auto block = this->block(quotient >> kBlockLog2);
    const auto runs = occupied_[quotient >> kBlockLog2];
    const auto first = run_start(block, ones(runs & low_bits(quotient % 64)));
    return quotient << shape_.remainder_bits | remainder(first + index);
}

void QuotientFilter::Cursor::enter(std::uint64_t block) {
    block_ = block;
    if (block >= filter_->block_count()) return;
    const auto there = filter_->block(block);
    runs_ = filter_->occupied_[block];
    slot_ = there.start;
    end_ = there.end();
}

std::optional<std::uint64_t> QuotientFilter::Cursor::next() {
    while (block_ < filter_->block_count() && slot_ == end_) enter(block_ + 1);
    if (block_ >= filter_->block_count()) return std::nullopt;
    const auto in_block = static_cast<std::uint64_t>(std::countr_zero(runs_));
    const auto quotient = block_ << kBlockLog2 | in_block;
    const auto remainder = filter_->remainder(slot_);
    if (filter_->ends_run(slot_)) runs_ &= runs_ - 1;
    ++slot_;
    return quotient << filter_->shape_.remainder_bits | remainder;
}

QuotientFilter::Builder::Builder(const QuotientShape& shape, std::uint64_t count)
    : filter_(shape), spare_(filter_.slots_ - std::min(count, filter_.slots_)) {
    enter(0);
}

/// What is spare lies between the blocks in equal parts.
void QuotientFilter::Builder::enter(std::uint64_t block) {
    block_ = block;
    if (block >= filter_.block_count()) return;
    __extension__ using Wide = unsigned __int128;
    const auto spare =
        static_cast<std::uint64_t>(static_cast<Wide>(spare_) * block / filter_.block_count());
    filter_.set_block(block, {filter_.size_ + spare, 0});
}

bool QuotientFilter::Builder::append(std::uint64_t fingerprint) {
    assert(fingerprint < filter_.shape_.universe && fingerprint >= last_);
    const auto bits = filter_.shape_.remainder_bits;
    const auto quotient = fingerprint >> bits;
    while (block_ < quotient >> kBlockLog2) enter(block_ + 1);
    const auto there = filter_.block(block_);
    if (there.count == filter_.limits_.in_block || there.end() >= filter_.slots_ ||
        !filter_.can_start_at(block_, there.start)) {
        return false;
    }
    const bool same_run = there.count > 0 && last_ >> bits == quotient;
    if (same_run) filter_.set_ends_run(there.end() - 1, false);
    filter_.set_remainder(there.end(), fingerprint & low_bits(bits));
    filter_.set_ends_run(there.end(), true);
    filter_.occupied_[block_] |= std::uint64_t{1} << (quotient % 64);
    filter_.set_block(block_, {there.start, there.count + 1});
    filter_.count(block_, 1);
    filter_.check_ += check_term(fingerprint);
    last_ = fingerprint;
    return true;
}

QuotientFilter QuotientFilter::Builder::finish() {
    while (block_ < filter_.block_count()) enter(block_ + 1);
    return std::move(filter_);
}

std::optional<QuotientFilter> QuotientFilter::resized(const QuotientShape& shape) const {
    assert(is_valid(shape) && shape.universe == shape_.universe);
    return merged(*this, QuotientFilter(), shape);
}

std::optional<QuotientFilter> QuotientFilter::merged(const QuotientFilter& one,
                                                     const QuotientFilter& other,
                                                     const QuotientShape& shape) {
    assert(is_valid(shape));
    Builder builder(shape, one.size() + other.size());
    Cursor of_one(one);
    Cursor of_other(other);
    auto left = of_one.next();
    auto right = of_other.next();
    while (left || right) {
        const bool take_left = left && (!right || *left <= *right);
        if (!builder.append(take_left ? *left : *right)) return std::nullopt;
        (take_left ? left : right) = (take_left ? of_one : of_other).next();
    }
    return builder.finish();
}

std::uint64_t QuotientFilter::memory_bytes() const {
    return (occupied_.size() + run_ends_.size() + remainders_.size()) * sizeof(std::uint64_t) +
           (blocks_.size() + versions_.size() + counts_.size() + groups_.size()) *
               sizeof(std::uint32_t);
}

bool QuotientFilter::release(std::uint64_t words) {
    if (!remainders_.release(words) || !run_ends_.release(words) || !occupied_.release(words) ||
        !blocks_.release(2 * words)) {
        return false;
    }
    *this = QuotientFilter();
    return true;
}

}  // namespace summary
