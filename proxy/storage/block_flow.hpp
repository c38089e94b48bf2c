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
#include "proxy/storage/store.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// One answer of an origin that is being cut into blocks (cache/block_run.hpp): where it stands,
/// how fast it comes, and who waits for which of its blocks. The run is its only writer; readers
/// may live on any thread.
class BlockFlow {
public:
    using Time = FlowRate::Time;
    using Wait = std::chrono::nanoseconds;

    /// Whose answer it is, and for whom.
    struct Ownership {
        /// Identifies the request that the origin answers; its own stream reads in any case.
        std::shared_ptr<const void> request = nullptr;
        /// The head allows the answer to be stored. Otherwise only the owner finds the flow.
        bool storable = true;
        /// The target and the tags of the body. After an invalidation of one of them that is later
        /// than this count (Store::invalidations()), only the owner finds the flow.
        std::vector<summary::KeyHash> names = {};
        std::uint64_t invalidations = 0;
    };

    /// `covered`: what the answer brings of the body. `writer`: the run's, which is notified when a
    /// reader comes. `window_bytes`: as a Fill has it.
    BlockFlow(Blocks blocks, ByteRange covered, std::shared_ptr<Wakeup> writer,
              std::uint64_t window_bytes, Ownership owner);

    // Readers. `request`: the reader's, or null.
    bool is_of(const void* request) const { return request && request == owner_.request.get(); }
    /// Whether this request may read the flow, besides what the head says of each block.
    bool is_open_to(const void* request, const Store& store) const;
    /// An invalidation came after the request was sent.
    bool is_outdated(const Store& store) const;
    /// For the block at `offset`, which the run has yet to begin; null when it has begun or passed
    /// that (then the store knows of it), does not reach it, or has ended. The owner gets the block
    /// that was begun last, too: the store does not know of it after an invalidation.
    /// Only the owner reads an answer that is not stored; others are released then.
    std::unique_ptr<Fill::Reader> join(std::uint64_t offset, std::shared_ptr<Wakeup> wakeup,
                                       const void* request);
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
    const Ownership owner_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<Fill>> ahead_;  // by first byte, those that are wanted
    std::shared_ptr<Fill> current_;  // of the block that was begun last, unless its job has it
    std::uint64_t next_;             // first byte of the block that is to begin next
    std::uint64_t at_;               // so far the answer has come
    FlowRate rate_;
    bool ended_ = false;
};

/// The flows under way at this node, by body and version (flow_name()). Any thread. As many as
/// there are fetches.
class BlockFlows {
public:
    void add(summary::KeyHash version, std::shared_ptr<BlockFlow> flow);
    void remove(summary::KeyHash version, const BlockFlow* flow);
    /// Of the flows that are open to `request`, the nearest that will bring the block at `offset`;
    /// if none will, one that has begun or passed it; else null.
    std::shared_ptr<BlockFlow> find(summary::KeyHash version, std::uint64_t offset,
                                    const void* request, const Store& store) const;

private:
    mutable std::mutex mutex_;
    std::unordered_multimap<summary::KeyHash, std::shared_ptr<BlockFlow>, summary::HashOfKeyHash>
        flows_;
};

}  // namespace proxy
