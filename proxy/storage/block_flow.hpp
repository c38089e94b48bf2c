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
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// A reader of a body in blocks has so many of them under way behind the next one.
inline constexpr std::uint64_t kBlocksAhead = 4;

/// An answer of an origin that is being cut into blocks (fetch/block_run.hpp): its position, its
/// rate, and the readers that wait for its blocks. The run is its only writer; readers may be on
/// any thread.
class BlockFlow {
public:
    using Time = FlowRate::Time;
    using Wait = std::chrono::nanoseconds;

    /// The request that the origin answers, and the requests that may read the answer.
    struct Ownership {
        /// Identifies the request that the origin answers. The stream of this request always reads.
        std::shared_ptr<const void> request = nullptr;
        /// The head allows the answer to be stored. Otherwise only the owner finds the flow.
        bool storable = true;
        /// The target and the tags of the body. After an invalidation of one of them, later than
        /// the count `invalidations`, only the owner finds the flow. The count is
        /// Store::invalidations().
        std::vector<summary::KeyHash> names = {};
        std::uint64_t invalidations = 0;
    };

    /// `covered` is the part of the body in the answer. `writer` is the wakeup of the run, notified
    /// when a reader comes. `window_bytes` as in Fill.
    BlockFlow(Blocks blocks, ByteRange covered, std::shared_ptr<base::Wakeup> writer,
              std::uint64_t window_bytes, Ownership owner);

    // Readers. `request` is the reader's own request, or null.
    bool is_of(const void* request) const { return request && request == owner_.request.get(); }
    /// This request may read the flow; the head of each block may exclude it still.
    bool is_open_to(const void* request, const Store& store) const;
    /// The key or a tag was invalidated after the request was sent.
    bool is_outdated(const Store& store) const;
    /// Returns the same flow for a stream of this node, which counts as a reader until it drops the
    /// result: the blocks that the stream sends now may have come long ago, and it wants the rest.
    static std::shared_ptr<BlockFlow> attend(std::shared_ptr<BlockFlow> flow);
    /// A peer follows this node, and has asked for a block of the flow. It says nothing while it
    /// sends a block to its client, so the flow then waits kPeerStays for its next request.
    void followed_by_peer();
    static constexpr std::chrono::seconds kPeerStays{60};
    /// Joins the block at `offset`, which the run has yet to begin. Null if the run has begun or
    /// passed the block, and so the store knows it; also if the block is outside of the answer, or
    /// the run has ended. `stays`: the reader is the owner, or has read a block of the run before.
    /// It also gets the block that was begun last, which the store lacks after an invalidation, and
    /// an answer that stays out of the store releases only the others.
    std::unique_ptr<Fill::Reader> join(std::uint64_t offset, std::shared_ptr<base::Wakeup> wakeup,
                                       bool stays);
    /// The block at `offset`, as the run sees it.
    enum class Stage : std::uint8_t {
        ahead,    // join() will wait for it
        here,     // begun or passed; the store has it
        outside,  // outside of the answer
    };
    Stage stage_of(std::uint64_t offset) const;
    /// The first byte of the next block.
    std::uint64_t next() const;
    /// The block comes so late that it is requested separately; see is_far_ahead().
    bool is_far(std::uint64_t offset, Wait usual, Time now) const;
    /// The same for a reader at a peer. The blocks up to kBlocksAhead behind the run are awaited
    /// however long they take, because a reader that has come so far would gain nothing by a
    /// request of its own.
    bool is_too_far_to_follow(std::uint64_t offset, Wait usual, Time now) const;
    /// So many bytes take longer than that, at the rate of this answer.
    bool takes_long(std::uint64_t bytes, Wait usual, Time now) const;

    // The run.
    /// The fill for the next block, made if the block has yet to get a reader. The block is still
    /// `ahead`.
    std::shared_ptr<Fill> fill_for(std::uint64_t offset);
    /// The store has the block at `offset` as the run's fill, or gets it. The block leaves `ahead`.
    void begin(std::uint64_t offset);
    /// Another response has brought the block at `offset`, or brings it. The block leaves `ahead`.
    /// Its readers here are notified and look elsewhere.
    void pass(std::uint64_t offset);
    void came(std::uint64_t bytes, Time now);
    /// A reader waits for a block from `offset` on.
    bool wanted_from(std::uint64_t offset) const;
    /// Each stream waits for the block at `offset`, so that none misses it if the store will not
    /// have it.
    bool all_wait_for(std::uint64_t offset) const;
    /// The readers of the blocks ahead, the streams and the peers.
    Fill::Audience audience() const;
    /// Ends the flow. Its readers are notified and look elsewhere.
    void end();

    const Blocks& blocks() const { return blocks_; }
    /// It is to bring just this, as something that may be stored, or not.
    bool brings(const ByteRange& range, bool storable) const {
        return covered_ == range && owner_.storable == storable;
    }

private:
    bool covers(const ByteRange& block) const;                 // under the mutex
    Fill& ahead(std::uint64_t first);                          // under the mutex
    std::shared_ptr<Fill> take_ahead(const ByteRange& block);  // under the mutex

    const Blocks blocks_;
    const ByteRange covered_;
    const std::shared_ptr<base::Wakeup> writer_;
    const std::uint64_t window_bytes_;
    const Ownership owner_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<Fill>> ahead_;  // by first byte, of blocks with readers
    std::shared_ptr<Fill> current_;                         // of the block that was begun last
    std::uint64_t next_;  // first byte of the block that is to begin next
    std::uint64_t at_;    // the position of the answer
    FlowRate rate_;
    std::size_t streams_ = 0;   // of this node
    std::uint64_t joined_ = 0;  // readers and requests of peers, since the start
    bool has_peers_ = false;
    bool ended_ = false;
};

/// The flows of this node, by version and block size (the hash of flow_key()). Any thread. There
/// are at most as many as fetches.
class BlockFlows {
public:
    void add(summary::KeyHash version, std::shared_ptr<BlockFlow> flow);
    void remove(summary::KeyHash version, const BlockFlow* flow);
    /// Among the flows that are open to `request`: the nearest that will bring the block at
    /// `offset`, or one that has begun or passed it, or null.
    std::shared_ptr<BlockFlow> find(summary::KeyHash version, std::uint64_t offset,
                                    const void* request, const Store& store) const;

private:
    mutable std::mutex mutex_;
    std::unordered_multimap<summary::KeyHash, std::shared_ptr<BlockFlow>, summary::HashOfKeyHash>
        flows_;
};

/// A flow that readers find, until this is destroyed. Their waiting ends with it.
class OpenFlow {
public:
    /// `flows` must outlive this.
    OpenFlow(BlockFlows& flows, summary::KeyHash version, std::shared_ptr<BlockFlow> flow)
        : flows_(flows), version_(version), flow_(std::move(flow)) {
        flows_.add(version_, flow_);
    }
    OpenFlow(const OpenFlow&) = delete;
    OpenFlow& operator=(const OpenFlow&) = delete;
    ~OpenFlow() {
        flows_.remove(version_, flow_.get());
        flow_->end();
    }

    BlockFlow& get() const { return *flow_; }

private:
    BlockFlows& flows_;
    const summary::KeyHash version_;
    const std::shared_ptr<BlockFlow> flow_;
};

}  // namespace proxy
