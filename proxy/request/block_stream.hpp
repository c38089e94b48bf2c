#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory/memory.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/missing_blocks.hpp"
#include "proxy/fetch/retry_plan.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/storage/body_version.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

/// A stream looks at kBlocksSampled blocks, spread over the body, to state beforehand where most of
/// it comes from. If all of those are here it looks for the others, up to the first missing one,
/// and at kMaxBlocksExpected in all. A body with more blocks is never called a hit.
inline constexpr std::uint64_t kBlocksSampled = 32;

/// A block that is missing among the first so many is requested from the origin before the response
/// begins.
inline constexpr std::uint64_t kOpenedAhead = 16;

/// Sends a part of a body that is stored in blocks: stored blocks from the store, missing ones as
/// they are fetched. The next block is begun while one is being sent, and so are up to kBlocksAhead
/// behind it that peers announce, so that several peers send at a time. One coroutine; the
/// transaction outlives it. block_stream.cpp sends, block_sources.cpp finds and fetches.
class BlockStream {
public:
    /// `request`: the request of the fetch that brought the index; null if none was fetched.
    BlockStream(Transaction& transaction, std::shared_ptr<const StoredResponse> index,
                std::shared_ptr<const RequestSnapshot> request);

    /// Keeps all blocks of `range` that are in memory, and fetches none from then on. False when
    /// one is not stored. Blocks on the disk are read as they are sent; a bad one fails like one
    /// that cannot be fetched.
    bool pin(ByteRange range);

    /// The first of these parts with a block that is nowhere on this node; none: all are here.
    std::optional<std::size_t> first_missing(const std::vector<ByteRange>& parts) const;
    /// More than `at_most` blocks of these parts are nowhere on this node.
    bool lacks_more_than(std::uint64_t at_most, std::vector<ByteRange> parts) const;
    /// A run will bring the block in which `range` begins, too late to wait for it, and the origin
    /// would take as long from the block's start to the first wanted byte.
    bool lies_deep_in_far_block(ByteRange range) const;

    /// Waits until the first block of `range` (within the body) is there or on its way. An error
    /// comes before anything was sent. `leads`: the index was fetched for this request, and the
    /// origin's answer may bring the blocks, too.
    boost::asio::awaitable<FetchError> open(ByteRange range, bool leads);
    /// Completes `status`, which describes the index, with the sources of the body, as far as they
    /// are known after open(). The result views this.
    void describe(CacheStatus& status);

    /// Sends the range behind the response that has begun. A block that fails is asked for again
    /// (retry_plan.hpp). Where the origin gives no parts any more, the rest comes out of the whole,
    /// if that is the same version. Any other failure cuts the response short.
    boost::asio::awaitable<void> send();

private:
    /// Where the bytes of one block come from.
    struct Block {
        ByteRange range;
        std::shared_ptr<const StoredResponse> stored;
        std::unique_ptr<Fill::Reader> reader;
        std::shared_ptr<RetryBudget> tries;  // where it is not stored
        summary::KeyHash hash;               // of its key
        Source source = Source::memory;      // unless it is fetched for this request, from where
        bool leader = false;
        bool recalled = false;  // it is read from the disk, and then stored
        bool fetched = false;   // for this request
        bool follows = false;   // with that: it is waited for, however long it takes
        bool by_run = false;    // it comes with others in one answer (BlockFlow)
        bool promised = false;  // by a peer, when fetching it began

        bool on_disk() const {
            return source == Source::disk || (stored && stored->body->on_disk());
        }
    };

    enum class AllowedSources : std::uint8_t {
        use_all,   // disk, others' fetches, its own
        not_disk,  // which is too slow, or too busy
        be_alone,  // nor others' fetches
    };
    struct Key {
        std::string uri;
        summary::KeyHash hash;
    };

    /// The body as its index has it, and the keys under which its parts are stored.
    class BlockedBody {
    public:
        /// `uri`, of the body, and `hasher` outlive this.
        BlockedBody(std::shared_ptr<const StoredResponse> index, std::string_view uri,
                    const summary::KeyHasher& hasher);

        const StoredResponse& index() const { return *index_; }
        const Blocks& blocks() const { return *index_->blocks; }
        const BodyVersion& version() const { return version_; }
        Key key_of(const ByteRange& block) const;
        /// The key of a run that brings this version.
        const summary::KeyHash& flow() const { return flow_; }

    private:
        std::shared_ptr<const StoredResponse> index_;
        std::string_view uri_;
        const summary::KeyHasher& hasher_;
        BodyVersion version_;
        summary::KeyHash flow_;
    };

    /// Consecutive blocks that are kept from before the response begins.
    class PinnedBlocks {
    public:
        struct PinnedBlock {
            std::shared_ptr<const StoredResponse> stored;  // null: it is on the disk
            summary::KeyHash hash;
        };

        /// The blocks from the one at `offset` on follow.
        void begin(std::uint64_t offset) {
            blocks_.clear();
            from_ = offset;
        }
        void add(PinnedBlock block) { blocks_.push_back(std::move(block)); }
        void clear() { blocks_.clear(); }
        bool empty() const { return blocks_.empty(); }
        /// Precondition: the block at `offset` was pinned.
        const PinnedBlock& at(std::uint64_t offset, std::uint64_t block_bytes) const {
            return blocks_[(offset - from_) / block_bytes];
        }

    private:
        std::vector<PinnedBlock> blocks_;
        std::uint64_t from_ = 0;
    };

    /// The sources of a body, before most of it is sent.
    struct Expectation {
        BytesBySource bytes;
        std::string peer;  // the first that will be asked; empty: none
    };
    std::chrono::nanoseconds usual() const;
    std::shared_ptr<BlockFlow> flow_at(std::uint64_t offset) const;
    bool join_flow(Block& block);
    bool join(const std::shared_ptr<BlockFlow>& flow, Block& block);
    bool join_outdated_run(Block& block);
    void attend(const std::shared_ptr<BlockFlow>& flow);
    void fetch(Block& block, const Store::Found& found, AllowedSources may);
    std::optional<std::size_t> likely_peer(const Key& key) const;
    std::string fetcher() const;
    boost::asio::awaitable<FetchError> open_missing();
    bool may_come_in_parts() const;
    bool is_fetched(const ByteRange& block) const;
    Block next_from(std::uint64_t offset);
    void look_ahead(std::uint64_t offset);
    Block find_or_fetch(std::uint64_t offset, AllowedSources may,
                        std::shared_ptr<RetryBudget> tries = nullptr);
    boost::asio::awaitable<FetchError> wait(Block& block);
    boost::asio::awaitable<FetchError> wait_for_disk(Block& block);
    boost::asio::awaitable<FetchError> wait_and_retry(Block& block);
    boost::asio::awaitable<bool> send_block(const Block& block, ByteRange part);
    boost::asio::awaitable<bool> send_out_of_whole(ByteRange rest);
    boost::asio::awaitable<Fill::State> head_of(const Fill::Reader& reader);
    std::shared_ptr<const RequestSnapshot> request();
    void note(Block& block, const Fill::State& state);
    std::uint64_t missing(ByteRange range, std::uint64_t at_most) const;
    Store::StoredAt where(const Key& key) const;
    bool may_not_fetch() const { return !pinned_.empty(); }
    Expectation expect() const;
    bool all_here() const;

    Transaction& transaction_;
    ClientService& service_;
    BlockedBody body_;
    const std::optional<UpstreamTarget> origin_;  // none without a site
    PinnedBlocks pinned_;                         // by pin()
    const std::shared_ptr<PeersOfStream> peers_ = std::make_shared<PeersOfStream>();
    std::shared_ptr<BlockFlow> joined_;  // the run that this stream read last, and attends
    ByteRange range_;
    Block now_;
    std::optional<Block> ahead_;  // the first that was missing, if that is not now_
    struct ComingBlock {
        Block block;
        base::Charge charge;  // of limits.body_windows, for what is fetched for this stream
    };
    std::deque<ComingBlock> coming_;  // behind the next one, in order: see look_ahead()
    std::shared_ptr<const RequestSnapshot> request_;  // once something has to be fetched
    std::optional<ByteRange> fetched_;  // what the origin was asked for, for this request
    bool follows_ = false;              // what a run brings is waited for, as it was begun for this
    std::string detail_;                // by describe()
    bool peer_gave_ = false;
    bool promises_hold_ = true;  // a peer gave the last block that one had promised
};

}  // namespace proxy
