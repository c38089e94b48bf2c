#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>

#include "summary/bloom_filter.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// Which keys and tags were invalidated, and when: fetches that began before must not be stored,
/// copies that peers made before must not be used. Any thread.
///
/// The latest are remembered one by one. Those before them stand in filters, each for a stretch of
/// time: what is in one counts as invalidated at that stretch's end. What is forgotten for want of
/// room becomes a floor under all. So errors are on the safe side: some copies are refused that
/// could have been used, one in a few hundred when all filters are full.
class InvalidationMemory {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Limits {
        std::size_t latest = 16'384;    // about 110 bytes each
        std::size_t stretch = 131'072;  // of one filter, kBitsEach each
        std::size_t stretches = 32;
    };
    static constexpr std::uint64_t kBitsEach = 20;
    static constexpr unsigned kHashes = 8;  // wrong once in 7,000, for each filter

    InvalidationMemory() : InvalidationMemory(Limits()) {}
    explicit InvalidationMemory(Limits limits) : limits_(limits) {}

    /// The same one again takes no more room.
    void note(summary::KeyHash what, Time now);
    /// Everything was.
    void note_all(Time now);

    /// Counts the notes.
    std::uint64_t invalidations() const { return invalidations_.load(std::memory_order_acquire); }
    /// Was it noted after the count stood at `invalidations`? Yes when that cannot be told any
    /// more.
    bool noted_since(summary::KeyHash what, std::uint64_t invalidations) const;
    /// When it was noted last, or may have been.
    std::optional<Time> last(summary::KeyHash what) const;

private:
    struct Note {
        std::uint64_t invalidations = 0;  // after it
        Time at;
    };
    struct Latest {
        summary::KeyHash what;
        Note note;
    };
    struct Stretch {
        explicit Stretch(summary::Shape shape) : noted(shape) {}
        summary::BloomFilter noted;
        std::size_t count = 0;
        Note end;
    };

    /// The last note of it that is still known, or what stands for it.
    std::optional<Note> find(summary::KeyHash what) const;  // mutex held
    void move_to_stretch(const Latest& oldest);             // mutex held

    const Limits limits_;
    std::atomic<std::uint64_t> invalidations_{0};
    mutable std::mutex mutex_;
    std::list<Latest> latest_;  // oldest first
    boost::unordered_flat_map<summary::KeyHash, std::list<Latest>::iterator, summary::HashOfKeyHash>
        places_;
    std::deque<Stretch> stretches_;  // oldest first; none is younger than the latest
    std::optional<Note> floor_;
};

}  // namespace proxy
