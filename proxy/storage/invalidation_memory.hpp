#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "base/memory/recent_map.hpp"
#include "summary/filters/bloom_filter.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The keys and tags that were invalidated, and the times. It refuses the results of fetches that
/// began before, and copies that peers made before. Any thread; a mutex of its own guards it.
///
/// The latest invalidations are kept one by one. Earlier ones are in filters, each for a stretch of
/// time, and count as invalidated at the end of that stretch. When the room is used up, the oldest
/// stretch becomes a floor under all keys. So every error is on the safe side: with all filters
/// full, one good key in a few hundred is refused.
class InvalidationMemory {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Limits {
        std::size_t latest = 16'384;    // about 110 bytes each
        std::size_t stretch = 131'072;  // per filter, kBitsEach each
        std::size_t stretches = 32;
    };
    static constexpr std::uint64_t kBitsEach = 20;
    static constexpr unsigned kHashes = 8;  // one false positive in 7,000, per filter

    InvalidationMemory() : InvalidationMemory(Limits()) {}
    explicit InvalidationMemory(Limits limits) : limits_(limits) {}

    /// A repeated key reuses its room.
    void note(summary::KeyHash what, Time now);
    /// The same for the tag of a prefix. `hasher`: of keys; it must outlive this.
    void note_prefix(summary::KeyHash tag, const summary::KeyHasher& hasher, Time now);
    /// Notes an invalidation of everything.
    void note_all(Time now);

    /// The number of notes so far.
    std::uint64_t invalidations() const { return invalidations_.load(std::memory_order_acquire); }
    /// The key was noted after the count stood at `invalidations`, or that is unknown by now.
    bool noted_since(summary::KeyHash what, std::uint64_t invalidations) const;
    bool any_noted_since(std::span<const summary::KeyHash> names,
                         std::uint64_t invalidations) const {
        return std::ranges::any_of(
            names, [&](const auto& name) { return noted_since(name, invalidations); });
    }
    /// One of the prefixes of this key was noted after that.
    bool prefix_noted_since(std::string_view uri, std::uint64_t invalidations) const;
    /// The time of the last note, or an upper bound of it.
    std::optional<Time> last(summary::KeyHash what) const;
    /// The latest time among the key and its tags.
    std::optional<Time> last(summary::KeyHash key, std::span<const summary::KeyHash> tags) const {
        auto latest = last(key);
        for (const auto& tag : tags) latest = std::max(latest, last(tag));
        return latest;
    }

    /// The latest time among the prefixes of this key.
    std::optional<Time> last_prefix(std::string_view uri) const;

private:
    struct Note {
        std::uint64_t invalidations = 0;  // the count after it
        Time at;
    };
    struct NotedPeriod {
        explicit NotedPeriod(summary::Shape shape) : noted(shape) {}
        summary::BloomFilter noted;
        std::size_t count = 0;
        Note end;
    };

    /// The last note of the key, or the note that stands for it.
    std::optional<Note> find(summary::KeyHash what) const;          // under the mutex
    void move_to_stretch(summary::KeyHash what, const Note& note);  // under the mutex

    const Limits limits_;
    /// Null while no prefix was noted: then a key has no tags but those of its response.
    std::atomic<const summary::KeyHasher*> prefix_hasher_{nullptr};
    std::atomic<std::uint64_t> invalidations_{0};
    mutable std::mutex mutex_;
    base::RecentMap<summary::KeyHash, Note, summary::HashOfKeyHash> latest_;
    std::deque<NotedPeriod> stretches_;  // oldest first, all older than latest_
    std::optional<Note> floor_;
};

}  // namespace proxy
