#pragma once

#include <atomic>
#include <cstdint>

/// Words that one thread writes while others read them.
namespace summary {

// Single words. A load and a store are enough for one writer, and much cheaper than a locked
// instruction.

template <class Word>
inline Word relaxed_load(const Word& word) {
    // An atomic_ref needs a mutable object, though this function only reads.
    return std::atomic_ref<Word>(const_cast<Word&>(word)).load(std::memory_order_relaxed);
}

inline void relaxed_change(std::uint64_t& word, std::uint64_t mask, std::uint64_t bits) {
    const std::atomic_ref<std::uint64_t> shared(word);
    const auto before = shared.load(std::memory_order_relaxed);
    const auto after = (before & ~mask) | bits;
    if (after != before) shared.store(after, std::memory_order_relaxed);
}

/// Several under a version (a seqlock; Boehm 2012). Each load acquires and each store releases,
/// instead of the fences that TSan does not know:
///   writer: version odd (relaxed), words (release), version even (release)
///   reader: version (acquire), words (acquire), version again (relaxed)
/// A reader that has seen a word of a change sees the odd version too, or a later one.

template <class Word>
inline Word shared_load(const Word& word) {
    return std::atomic_ref<Word>(const_cast<Word&>(word)).load(std::memory_order_acquire);
}

template <class Word>
inline void shared_store(Word& word, Word value) {
    std::atomic_ref<Word>(word).store(value, std::memory_order_release);
}

}  // namespace summary
