#include "summary/filters/quotient_blocks.hpp"

#include <algorithm>
#include <bit>

namespace summary {

namespace {

constexpr std::size_t kWordsInLine = 8;
constexpr std::uint64_t kFarthest = std::uint64_t{1}
                                    << 19;  // distance of a start from its nominal place

/// Includes the words that moves and prefetches may read behind the end.
std::uint64_t words_for(std::uint64_t bits) {
    return bits / 64 + 2 + kWordsInLine;
}

}  // namespace

/// Marks blocks [first, last] as changing for readers, during its lifetime.
class QuotientBlocks::Change {
public:
    Change(QuotientBlocks& blocks, std::uint64_t first, std::uint64_t last)
        : first_(blocks.versions_.data() + (first >> kRegionLog2)),
          last_(blocks.versions_.data() + (last >> kRegionLog2)) {
        for (auto* version = first_; version <= last_; ++version) {
            std::atomic_ref<std::uint32_t>(*version).store(*version + 1, std::memory_order_relaxed);
        }
    }
    ~Change() {
        for (auto* version = first_; version <= last_; ++version) {
            shared_store(*version, *version + 1);
        }
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

private:
    std::uint32_t* const first_;
    std::uint32_t* const last_;
};

QuotientBlocks::QuotientBlocks(const QuotientShape& shape, std::uint64_t reach)
    : shape_(shape),
      reach_(reach),
      in_a_row_(64 / shape.remainder_bits),
      slots_(most_fingerprints(shape)),
      step_((slots_ << kStepBits) / blocks_of(shape)),
      occupied_(blocks_of(shape)),
      run_ends_(words_for(slots_)),
      remainders_(words_for(slots_ * shape.remainder_bits)),
      blocks_(blocks_of(shape)),
      versions_(regions_of(shape)) {
    for (std::uint64_t i = 0; i < in_a_row_; ++i) {
        lows_ |= std::uint64_t{1} << (i * shape.remainder_bits);
    }
    tops_ = lows_ << (shape.remainder_bits - 1);
}

std::uint64_t QuotientBlocks::memory_of(const QuotientShape& shape) {
    const auto blocks = blocks_of(shape);
    const auto slots = most_fingerprints(shape);
    return (blocks + words_for(slots) + words_for(slots * shape.remainder_bits)) *
               sizeof(std::uint64_t) +
           (blocks + regions_of(shape)) * sizeof(std::uint32_t);
}

std::uint64_t QuotientBlocks::memory_bytes() const {
    return (occupied_.size() + run_ends_.size() + remainders_.size()) * sizeof(std::uint64_t) +
           (blocks_.size() + versions_.size()) * sizeof(std::uint32_t);
}

bool QuotientBlocks::release(std::uint64_t words) {
    return remainders_.release(words) && run_ends_.release(words) && occupied_.release(words) &&
           blocks_.release(2 * words) && versions_.release(2 * words);
}

bool QuotientBlocks::can_start_at(std::uint64_t block, std::uint64_t start) const {
    return start + kFarthest - nominal(block) < 2 * kFarthest;
}

void QuotientBlocks::set_start(std::uint64_t index, std::uint64_t start) {
    auto& word = blocks_[index];
    const auto relative = static_cast<std::uint32_t>(start - nominal(index));
    shared_store(word, relative << kCountBits | (word & std::uint32_t{kMostInBlock}));
}

/// The length of a run of more than 64, at most to the end of the block.
std::uint64_t QuotientBlocks::run_length(Block block, std::uint64_t start) const {
    for (auto at = start; at < block.end(); at += 64) {
        const auto ends = window(run_ends_, at);
        if (ends != 0) return at - start + static_cast<unsigned>(std::countr_zero(ends)) + 1;
    }
    return block.end() - std::min(start, block.end());
}

bool QuotientBlocks::has(Run run, std::uint64_t remainder) const {
    const auto pattern = remainder * lows_;
    for (auto slot = run.start; slot < run.end(); slot += in_a_row_) {
        if ((equal(slot, pattern) & fields(run.end() - slot)) != 0) return true;
    }
    return false;
}

/// Compares all remainders of the runs, as many at a time as fit into a word; few agree.
std::uint64_t QuotientBlocks::matches(std::uint64_t index, std::uint64_t asked,
                                      std::uint64_t remainder) const {
    const auto runs = occupied(index);
    if ((runs & asked) == 0) return 0;
    const auto block = this->block(index);
    prefetch(block);
    const auto below = (asked & -asked) - 1;
    const auto before = ones(runs & below);
    const auto last = before + ones(runs & asked);
    const auto end = last == ones(runs) ? block.end() : run_start(block, last);
    const auto pattern = remainder * lows_;
    std::uint64_t found = 0;
    for (auto slot = run_start(block, before); slot < end; slot += in_a_row_) {
        for (auto same = equal(slot, pattern) & fields(end - slot); same != 0; same &= same - 1) {
            const auto i = static_cast<unsigned>(std::countr_zero(same)) / shape_.remainder_bits;
            const auto run = runs_before(block, slot + i);
            // A reader in an intermediate state may find too many runs.
            if (run < ones(runs)) found |= std::uint64_t{1} << select_one(runs, run);
        }
    }
    return found & asked;
}

/// The start of a block's run number `run`: one past the end of the run before.
std::uint64_t QuotientBlocks::run_start(Block block, unsigned run) const {
    if (run == 0) return block.start;
    for (auto at = block.start; at < block.end(); at += 64) {
        const auto ends = window(run_ends_, at);
        const auto here = ones(ends);
        if (here >= run) return std::min(at + select_one(ends, run - 1) + 1, block.end());
        run -= here;
    }
    return block.end();
}

unsigned QuotientBlocks::runs_before(Block block, std::uint64_t slot) const {
    unsigned runs = 0;
    for (auto at = block.start; at < slot; at += 64) {
        const auto size = std::min<std::uint64_t>(slot - at, 64);
        runs += ones(window(run_ends_, at) & low_bits(static_cast<unsigned>(size)));
    }
    return runs;
}

void QuotientBlocks::prefetch(Block block) const {
    const auto* const first = remainders_.data() + block.start * shape_.remainder_bits / 64;
    __builtin_prefetch(first);
    __builtin_prefetch(first + kWordsInLine);
}

void QuotientBlocks::prefetch(std::uint64_t index) const {
    const auto start = nominal(index);
    __builtin_prefetch(&versions_[index >> kRegionLog2]);
    __builtin_prefetch(&occupied_[index]);
    __builtin_prefetch(&blocks_[index]);
    __builtin_prefetch(&run_ends_[start / 64]);
    prefetch(Block{start, 0});
}

/// The run's first slot gets a bit: an end for a new run, and no end for an existing one. So the
/// place of the remainder in the run is irrelevant.
void QuotientBlocks::insert(std::uint64_t index, unsigned quotient, Run run, std::uint64_t at,
                            std::uint64_t remainder) {
    const Change change(*this, index, index);
    const auto end = block(index).end();
    const auto bits = shape_.remainder_bits;
    insert_bits(remainders_, at, end * bits, bits, remainder);
    insert_bit(run_ends_, run.start, end, run.length == 0);
    shared_store(occupied_[index], occupied_[index] | std::uint64_t{1} << quotient);
    shared_store(blocks_[index], blocks_[index] + 1);
}

/// The bit of the run's first slot goes. It is an end exactly if the run has one remainder.
void QuotientBlocks::remove(std::uint64_t index, unsigned quotient, Run run, std::uint64_t at) {
    const Change change(*this, index, index);
    const auto end = block(index).end();
    const auto bits = shape_.remainder_bits;
    remove_bits(remainders_, at, end * bits, bits);
    remove_bit(run_ends_, run.start, end);
    const auto was_alone = std::uint64_t{run.length == 1 ? 1U : 0U};
    shared_store(occupied_[index], occupied_[index] & ~(was_alone << quotient));
    shared_store(blocks_[index], blocks_[index] - 1);
}

bool QuotientBlocks::place(std::uint64_t index, std::uint64_t start) {
    set_start(index, start);
    return can_start_at(index, start);
}

void QuotientBlocks::append(std::uint64_t index, unsigned quotient, bool new_run,
                            std::uint64_t remainder) {
    const auto end = block(index).end();
    const auto bits = shape_.remainder_bits;
    put_bits(remainders_, end * bits, bits, remainder);
    if (!new_run) put_bits(run_ends_, end - 1, 1, 0);
    put_bits(run_ends_, end, 1, 1);
    occupied_[index] |= std::uint64_t{1} << quotient;
    ++blocks_[index];
}

/// Moves the remainders of blocks [first, last] by `by` slots.
void QuotientBlocks::move_up(std::uint64_t first, std::uint64_t last, std::uint64_t by) {
    const Change change(*this, first, last);
    const std::uint64_t bits = shape_.remainder_bits;
    const auto start = block(first).start;
    const auto end = block(last).end();
    move_bits_up(run_ends_, start, end, by);
    move_bits_up(remainders_, start * bits, end * bits, by * bits);
    for (auto i = first; i <= last; ++i) set_start(i, block(i).start + by);
}

void QuotientBlocks::move_down(std::uint64_t first, std::uint64_t last, std::uint64_t by) {
    const Change change(*this, first, last);
    const std::uint64_t bits = shape_.remainder_bits;
    const auto start = block(first).start;
    const auto end = block(last).end();
    move_bits_down(run_ends_, start, end, by);
    move_bits_down(remainders_, start * bits, end * bits, by * bits);
    for (auto i = first; i <= last; ++i) set_start(i, block(i).start - by);
}

/// Moves half of the free slots behind `last` to the place before `first`.
bool QuotientBlocks::push_up(std::uint64_t first, std::uint64_t last) {
    const auto by = (start_of(last + 1) - block(last).end() + 1) / 2;
    for (auto i = first; i <= last; ++i) {
        if (!can_start_at(i, block(i).start + by)) return false;
    }
    move_up(first, last, by);
    return true;
}

/// Moves half of the free slots before `first` to the place behind `last`.
bool QuotientBlocks::push_down(std::uint64_t first, std::uint64_t last) {
    const auto free = block(first).start - (first == 0 ? 0 : block(first - 1).end());
    const auto by = (free + 1) / 2;
    for (auto i = first; i <= last; ++i) {
        if (!can_start_at(i, block(i).start - by)) return false;
    }
    move_down(first, last, by);
    return true;
}

bool QuotientBlocks::make_room(std::uint64_t index) {
    for (std::uint64_t away = 1; away <= reach_; ++away) {
        const auto last = index + away;
        if (last < size() && has_room(last, block(last))) return push_up(index + 1, last);
        if (index + 1 < away) {
            if (last >= size()) return false;
            continue;
        }
        const auto first = index + 1 - away;
        if (block(first).start > (first == 0 ? 0 : block(first - 1).end())) {
            return push_down(first, index);
        }
    }
    return false;
}

}  // namespace summary
