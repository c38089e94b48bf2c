#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "proxy/storage/blocks.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/flow_rate.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// One answer of an origin that is being cut into blocks (cache/block_run.hpp): where it stands,
/// how fast it comes, and who waits for which of its blocks. The run is its only writer; readers
/// may live on any thread.
class BlockFlow {
public:
    using Time = FlowRate::Time;
    using Wait = std::chrono::nanoseconds;

    /// `covered`: what the answer brings of the body. `writer`: the run's, which is notified when a
    /// reader comes. `window_bytes`: as a Fill has it.
    BlockFlow(Blocks blocks, ByteRange covered, std::shared_ptr<Wakeup> writer,
              std::uint64_t window_bytes);

    // Readers.
    /// For the block at `offset`, which the run has yet to begin; null when it has begun or passed
    /// that (then the store knows of it), does not reach it, or has ended.
    std::unique_ptr<Fill::Reader> join(std::uint64_t offset, std::shared_ptr<Wakeup> wakeup);
    /// Does the run bring the block at `offset`, or has it?
    enum class Place : std::uint8_t {
        ahead,    // join() it
        here,     // begun, or passed: look into the store
        outside,  // never
    };
    Place place_of(std::uint64_t offset) const;
    /// The first byte of the block that is to begin next.
    std::uint64_t next() const;
    /// What is ahead comes so late that it is asked for by itself; see is_far_ahead().
    bool is_far(std::uint64_t offset, Wait usual, Time now) const;

    // The run.
    /// For the next block; made if nobody has joined it. It is still `ahead`.
    std::shared_ptr<Fill> fill_for(std::uint64_t offset);
    /// The block at `offset` is in the store, as a fill or whole, and no more `ahead`.
    void begin(std::uint64_t offset);
    void came(std::uint64_t bytes, Time now);
    /// Somebody waits for a block from `offset` on.
    bool wanted_from(std::uint64_t offset) const;
    /// Of the blocks that are ahead.
    Fill::Audience audience() const;
    /// No more comes: those who wait are told, and look elsewhere.
    void end();

    const Blocks& blocks() const { return blocks_; }

private:
    bool covers(const ByteRange& block) const;  // mutex held
    Fill& ahead(std::uint64_t first);           // mutex held

    const Blocks blocks_;
    const ByteRange covered_;
    const std::shared_ptr<Wakeup> writer_;
    const std::uint64_t window_bytes_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<Fill>> ahead_;  // by first byte, those that are wanted
    std::uint64_t next_;  // first byte of the block that is to begin next
    std::uint64_t at_;    // so far the answer has come
    FlowRate rate_;
    bool ended_ = false;
};

/// The flows under way at this node, by body and version (flow_name()). Any thread. As many as
/// there are fetches.
class BlockFlows {
public:
    void add(summary::KeyHash version, std::shared_ptr<BlockFlow> flow);
    void remove(summary::KeyHash version, const BlockFlow* flow);
    /// The nearest that will bring the block at `offset`; if none will, one that has begun or
    /// passed it; else null.
    std::shared_ptr<BlockFlow> find(summary::KeyHash version, std::uint64_t offset) const;

private:
    mutable std::mutex mutex_;
    std::unordered_multimap<summary::KeyHash, std::shared_ptr<BlockFlow>, summary::HashOfKeyHash>
        flows_;
};

}  // namespace proxy
