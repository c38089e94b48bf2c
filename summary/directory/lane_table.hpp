#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/coding/filter.hpp"
#include "summary/directory/lane_source.hpp"
#include "summary/directory/lanes.hpp"
#include "summary/directory/peer_set.hpp"
#include "summary/sizing/key.hpp"

namespace summary {

/// Demands of the Directory on a table: the filters of several peers side by side, one in each
/// lane. The writer loads lanes in blocks. Any thread may call find() at any time.
template <class Table>
concept LaneTable = requires(Table table, const Table& read_only, std::size_t lane,
                             std::uint64_t block, const Filter& filter, const Change& change,
                             std::span<const LaneSource> sources, const Key& key,
                             const Lanes& lanes, PeerSet& found, bool blank) {
    // True: a lane that is loaded over an earlier filter still matches the keys that both filters
    // have.
    { Table::kMixes } -> std::convertible_to<bool>;
    { read_only.descriptor() } -> std::same_as<Descriptor>;
    { read_only.lanes() } -> std::same_as<std::size_t>;
    // The number of blocks, and the words of one block in one lane and in all lanes.
    { read_only.blocks() } -> std::same_as<std::uint64_t>;
    { read_only.lane_block_words() } -> std::same_as<std::uint64_t>;
    { read_only.block_words() } -> std::same_as<std::uint64_t>;
    // start() begins another filter in the lane, load_all() and load() bring its blocks, and
    // apply() brings its changes.
    table.start(lane);
    table.load_all(sources, block, block);
    table.load(lane, filter, block, block, blank);
    table.apply(lane, change);
    read_only.find(key, lanes, found);
    { read_only.memory_bytes() } -> std::same_as<std::uint64_t>;
    { table.release(block) } -> std::same_as<bool>;
};

}  // namespace summary
