#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "summary/coding/filter.hpp"
#include "summary/coding/fingerprint_shape.hpp"
#include "summary/directory/lanes.hpp"
#include "summary/directory/peer_set.hpp"
#include "tests/summary/fingerprints.hpp"
#include "tests/summary/keys.hpp"

namespace summary::test {

/// A table of filters of fingerprints, and the filters that should be in it; lane i is peer
/// 1000 - i. All share some keys, as peers do.
template <class Table, class Shape>
class LoadedLanes {
public:
    static constexpr std::uint64_t kShared = 150;
    static constexpr std::uint64_t kOwn = 250;

    LoadedLanes(const Shape& shape, std::size_t count)
        : shape_(shape), table(shape, count), lanes(table.lanes()) {
        for (std::size_t lane = 0; lane < count; ++lane) add();
    }
    /// One more lane, not loaded yet.
    std::size_t add() {
        const auto lane = lanes.take(static_cast<unsigned>(1000 - keys_.size()));
        auto& keys = keys_.emplace_back();
        for (std::uint64_t i = 0; i < kShared; ++i) keys.insert(i);
        for (std::uint64_t i = 0; i < kOwn; ++i) keys.insert(10'000 * (lane + 1) + i);
        filters.push_back(filter_of(keys));
        return lane;
    }
    /// The same keys but for some, in another filter.
    void replace_some(std::size_t lane) {
        auto& keys = keys_[lane];
        for (int i = 0; i < 60; ++i) keys.erase(keys.begin());
        for (int i = 0; i < 70; ++i) keys.insert(next_++);
        filters[lane] = filter_of(keys);
    }
    /// The changes of a delta, done to the filter.
    Change change(std::size_t lane, int count = 40) {
        auto change = apply_delta(payload(lane, count), filters[lane]);
        EXPECT_TRUE(change);
        return std::move(*change);
    }
    /// A delta's payload that replaces so many keys.
    Bytes payload(std::size_t lane, int count = 40) {
        auto& keys = keys_[lane];
        std::multiset<std::uint64_t> added, removed;
        for (int i = 0; i < count; ++i) {
            auto gone = keys.lower_bound(random.below(2 * *keys.rbegin()));
            if (gone == keys.end()) gone = keys.begin();
            removed.insert(fingerprint(key(*gone), shape_));
            keys.erase(gone);
            keys.insert(next_);
            added.insert(fingerprint(key(next_++), shape_));
        }
        Bytes payload;
        encode(added, removed, filters[lane], payload);
        return payload;
    }
    std::vector<LaneSource> sources() const {
        std::vector<LaneSource> result(lanes.size());
        for (std::size_t i = 0; i < filters.size(); ++i) result[i] = {&filters[i]};
        return result;
    }
    void load_all() { table.load_all(sources(), 0, table.blocks()); }

    PeerSet find(std::uint64_t number) const {
        PeerSet found;
        table.find(asked(key(number)), lanes, found);
        return found;
    }
    PeerSet expected(std::uint64_t number) const {
        PeerSet found;
        for (unsigned i = 0; i < filters.size(); ++i) {
            if (contains(filters[i], asked(key(number)))) found.insert(1000 - i);
        }
        return found;
    }
    void expect_alike() const {
        const auto look = [&](std::uint64_t first, std::uint64_t count) {
            for (auto number = first; number < first + count; ++number) {
                ASSERT_EQ(find(number), expected(number)) << number;
            }
        };
        look(0, kShared);
        for (std::size_t lane = 0; lane < filters.size(); lane += filters.size() / 7 + 1) {
            look(10'000 * (lane + 1), kOwn + 100);
        }
        look(kFirstNew, 500);
        look(90'000'000, 1'000);
    }

private:
    static constexpr std::uint64_t kFirstNew = 50'000'000;

    Filter filter_of(const std::set<std::uint64_t>& keys) const {
        using Kept =
            std::conditional_t<std::is_same_v<Shape, QuotientShape>, QuotientFilter, CuckooFilter>;
        Kept filter(shape_);
        for (const auto number : keys) {
            EXPECT_TRUE(filter.insert(fingerprint(key(number), FingerprintShape(shape_))));
        }
        return filter;
    }
    void encode(const std::multiset<std::uint64_t>& added,
                const std::multiset<std::uint64_t>& removed, const Filter& before,
                Bytes& payload) const {
        FingerprintDelta delta;
        std::set_difference(added.begin(), added.end(), removed.begin(), removed.end(),
                            std::back_inserter(delta.added));
        std::set_difference(removed.begin(), removed.end(), added.begin(), added.end(),
                            std::back_inserter(delta.removed));
        const auto range = universe(FingerprintShape(shape_));
        if (const auto* const quotient = std::get_if<QuotientFilter>(&before)) {
            const auto all = fingerprints_of(*quotient);
            std::vector<std::uint64_t> ranks;
            for (const auto number : delta.removed) {
                const auto first = std::lower_bound(all.begin(), all.end(), number);
                const auto rank = static_cast<std::uint64_t>(first - all.begin());
                ranks.push_back(!ranks.empty() && ranks.back() >= rank ? ranks.back() + 1 : rank);
            }
            encode_ranked_delta(delta.added, ranks, range, quotient->size(), payload);
        } else {
            encode_fingerprint_delta(delta, range, payload);
        }
    }

    Shape shape_;
    std::vector<std::set<std::uint64_t>> keys_;
    std::uint64_t next_ = kFirstNew;

public:
    Random random{12};
    Table table;
    Lanes lanes;
    std::vector<Filter> filters;
};

}  // namespace summary::test
