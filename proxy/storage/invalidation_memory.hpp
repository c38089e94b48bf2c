#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "summary/key_hash.hpp"

namespace proxy {

/// Which keys and tags were invalidated, and when: fetches that began before must not be stored,
/// copies that peers made before must not be used. Nothing is forgotten but for want of room, and
/// then what is forgotten becomes a floor under all: errors are on the safe side. Not thread-safe.
class InvalidationMemory {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// `limit`: keys and tags remembered one by one, about 60 bytes each.
    explicit InvalidationMemory(std::size_t limit) : limit_(limit) {}

    void note(summary::KeyHash what, Time now);
    /// Everything was.
    void note_all(Time now);

    /// Counts the notes.
    std::uint64_t generation() const { return generation_; }
    /// Was it noted after the count stood at `generation`? Yes when that cannot be told any more.
    bool noted_since(summary::KeyHash what, std::uint64_t generation) const;
    /// When it was noted last, or may have been.
    std::optional<Time> last(summary::KeyHash what) const;

private:
    struct Note {
        std::uint64_t generation = 0;  // after it
        Time at;
    };
    struct Order {
        summary::KeyHash what;
        std::uint64_t generation = 0;
    };

    std::size_t limit_;
    std::uint64_t generation_ = 0;
    boost::unordered_flat_map<summary::KeyHash, Note, summary::HashOfKeyHash> notes_;
    std::deque<Order> order_;  // oldest first; may hold earlier notes of the same key
    std::optional<Note> floor_;
};

}  // namespace proxy
