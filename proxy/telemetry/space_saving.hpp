#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// The most frequent texts of a stream, by the Space-Saving algorithm: a bounded table counts some
/// texts; a text without a place takes the one of the smallest count and goes on from that count.
/// Each text with more than 1/capacity of all counts is in the table, and a count is too large by
/// at most `too_many`. Source: Metwally, Agrawal, El Abbadi: Efficient computation of frequent and
/// top-k elements in data streams, ICDT 2005. Memory: at most capacity * (kTextBytes + 128) bytes.
/// One thread.
class SpaceSaving {
public:
    static constexpr std::size_t kTextBytes = 256;  // longer texts are cut, and end with `...`

    struct Entry {
        std::string text;
        std::uint64_t count = 0;
        std::uint64_t too_many = 0;  // the count may be too large by so much
    };

    explicit SpaceSaving(std::size_t capacity);

    void note(std::string_view text, std::uint64_t times = 1);
    /// The `at_most` most frequent texts, the most frequent first.
    std::vector<Entry> top(std::size_t at_most) const;
    std::size_t size() const { return heap_.size(); }
    void clear();

private:
    struct Place {
        Entry entry;
        std::size_t in_heap = 0;
    };
    void sink(std::size_t at);
    void rise(std::size_t at);
    void put(std::size_t at, std::size_t place);
    std::uint64_t count_at(std::size_t at) const { return places_[heap_[at]].entry.count; }

    std::size_t capacity_;
    std::vector<Place> places_;      // reserved once, so that views of texts stay valid
    std::vector<std::size_t> heap_;  // indexes of places, the smallest count first
    boost::unordered_flat_map<std::string_view, std::size_t> by_text_;  // views of entries
};

/// The sum of several tables, as one table of `capacity` would have it: counts and errors of equal
/// texts add up. A text that a full table lacks may have had as many as its smallest count there.
std::vector<SpaceSaving::Entry> merged(const std::vector<std::vector<SpaceSaving::Entry>>& tables,
                                       std::size_t at_most);

}  // namespace proxy
