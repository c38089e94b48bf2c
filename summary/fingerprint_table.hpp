#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "summary/filter.hpp"
#include "summary/fingerprint_descriptor.hpp"
#include "summary/key.hpp"
#include "summary/lanes.hpp"
#include "summary/peer_set.hpp"
#include "summary/shared_words.hpp"

namespace summary {

/// Filters of fingerprints of one shape, one in each lane: a key has one fingerprint for all of
/// them, which is looked up in each. As with BloomTable, find() may be called by any thread at any
/// time and everything else that is not const belongs to one writer thread. A lane has a filter of
/// its own from its first load on, a copy that takes the same changes. Memory: replica_bytes() for
/// each of these.
template <class Kept>
class FingerprintTable {
public:
    using KeptShape = std::decay_t<decltype(std::declval<Kept>().shape())>;

    /// Precondition: is_valid(shape), lanes > 0.
    FingerprintTable(const KeptShape& shape, std::size_t lanes)
        : shape_(shape), filters_(std::bit_ceil(lanes)), shown_(filters_.size()) {}

    Descriptor descriptor() const { return descriptor_of(FingerprintShape(shape_)); }
    std::size_t lanes() const { return filters_.size(); }

    // A filter is loaded at once, as two of its states cannot be mixed: a block is a whole lane.
    std::uint64_t blocks() const { return lanes(); }
    std::uint64_t block_words() const { return replica_bytes(shape_) / sizeof(std::uint64_t) + 1; }
    std::uint64_t lane_block_words() const { return block_words() / lanes() + 1; }

    void fill(std::span<const Filter* const> sources, std::uint64_t from, std::uint64_t to) {
        for (auto lane = from; lane < to; ++lane) {
            if (sources[lane] != nullptr) load(lane, *sources[lane], 0, lanes(), true);
        }
    }
    /// With the first of its blocks all of it.
    void load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t /*to*/,
              bool /*blank*/) {
        if (from != 0) return;
        const auto& filter = std::get<Kept>(source);
        if (filters_[lane] != nullptr) return filters_[lane]->copy_from(filter);
        filters_[lane] = std::make_unique<Kept>(shape_);
        filters_[lane]->copy_from(filter);
        shared_store<const Kept*>(shown_[lane], filters_[lane].get());
    }
    /// What is not loaded yet will be, with the change in it.
    void apply(std::size_t lane, const Change& change) {
        if (filters_[lane] == nullptr) return;
        summary::apply(std::get<FingerprintDelta>(change), *filters_[lane]);
    }

    void find(const Key& key, const Lanes& lanes, PeerSet& found) const {
        const auto wanted = fingerprint(key.hash, FingerprintShape(shape_));
        for (std::size_t lane = 0; lane < shown_.size(); ++lane) {
            const auto* const filter = shared_load(shown_[lane]);
            if (filter != nullptr) filter->prefetch(wanted);
        }
        for (std::size_t lane = 0; lane < shown_.size(); ++lane) {
            const auto* const filter = shared_load(shown_[lane]);
            if (filter != nullptr && filter->contains(wanted)) lanes.add_peer(lane, found);
        }
    }

    std::uint64_t memory_bytes() const {
        std::uint64_t bytes = 0;
        for (const auto& filter : filters_) {
            if (filter != nullptr) bytes += filter->memory_bytes();
        }
        return bytes;
    }
    /// As Words::release().
    bool release(std::uint64_t words) {
        while (!filters_.empty() && filters_.back() == nullptr) filters_.pop_back();
        if (!filters_.empty() && filters_.back()->release(words)) filters_.pop_back();
        return filters_.empty();
    }

private:
    KeptShape shape_;
    std::vector<std::unique_ptr<Kept>> filters_;  // of the lanes
    std::vector<const Kept*> shown_;              // the same, for readers
};

}  // namespace summary
