#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/cache/retry_plan.hpp"
#include "proxy/client/client_context.hpp"
#include "proxy/storage/body_version.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

/// So many blocks of a body, spread over it, are looked at to tell beforehand where most of it
/// comes from. Only when all of those are here are the others looked for, at most so many in all,
/// up to the first that is not: what has more is never called a hit.
inline constexpr std::uint64_t kBlocksSampled = 32, kMaxBlocksExpected = 1024;

/// What is missing within so many blocks is asked of the origin before anything is sent.
inline constexpr std::uint64_t kOpenedAhead = 16;

/// Sends a part of a body that is stored in blocks: those that are there from the store, the others
/// as they are fetched, the next one begun while one is being sent. One coroutine; the client
/// outlives it.
class BlockStream {
public:
    /// `request`: the one that led the fetch of the index; null when nothing was fetched yet.
    BlockStream(ClientContext& client, std::shared_ptr<const StoredResponse> index,
                std::shared_ptr<const RequestSnapshot> request);

    /// Takes hold of all blocks of `range` that are in memory, and nothing is fetched from then on;
    /// false when one is not stored. Those on the disk are read as they are sent: one that proves
    /// bad fails, as one that cannot be fetched.
    bool hold(ByteRange range);

    /// Waits until the first block of `range` (within the body) is there or on its way. What is
    /// wrong, if it is not: nothing has been sent then. `leads`: the index was fetched for this
    /// request, and the answer that brought it may bring the blocks, too.
    boost::asio::awaitable<FetchError> open(ByteRange range, bool leads);
    /// After open(): what the client is told of where the body comes from, as far as that is known
    /// before the rest of it is looked for. `status` is what is to be said of the index; of the
    /// result, views into this.
    void describe(CacheStatus& status);

    /// Sends the head that the client has composed, then the range. A block that fails is asked for
    /// again (retry_plan.hpp); where the origin gives no parts any more, the rest comes out of the
    /// whole, if that is the same version. Anything else that fails cuts the connection. True when
    /// it can carry another request.
    boost::asio::awaitable<bool> send();

private:
    /// Where the bytes of one block come from.
    struct Block {
        ByteRange range;
        std::shared_ptr<const StoredResponse> stored;
        std::unique_ptr<Fill::Reader> reader;
        std::shared_ptr<Tries> tries;    // where it is not stored
        summary::KeyHash hash;           // of its key
        Source source = Source::memory;  // unless it is fetched for this request, from where
        bool leader = false;
        bool recalled = false;  // it is read from the disk, and then stored
        bool fetched = false;   // for this request
        bool follows = false;   // with that: it is waited for, however long it takes
        bool by_run = false;    // it comes with others in one answer (BlockFlow)

        bool on_disk() const {
            return source == Source::disk || (stored && stored->body->on_disk());
        }
    };

    enum class May : std::uint8_t {
        use_all,   // disk, others' fetches, its own
        not_disk,  // which is too slow, or too busy
        be_alone,  // nor others' fetches
    };
    struct Key {
        std::string uri;
        summary::KeyHash hash;
    };
    std::chrono::nanoseconds usual() const;
    std::shared_ptr<BlockFlow> flow_at(std::uint64_t offset) const;
    bool join_flow(Block& block);
    bool join(BlockFlow& flow, Block& block);
    bool join_outdated_run(Block& block);
    void fetch(Block& block, const Store::Found& found, May may);
    std::optional<std::uint64_t> end_of_missing(const ByteRange& first) const;
    bool may_be_at_peers(const Key& key) const;
    boost::asio::awaitable<FetchError> open_missing();
    bool may_come_in_parts() const;
    bool is_fetched(const ByteRange& block) const;
    Block next_from(std::uint64_t offset);
    Block find_or_fetch(std::uint64_t offset, May may, std::shared_ptr<Tries> tries = nullptr);
    boost::asio::awaitable<FetchError> wait(Block& block);
    boost::asio::awaitable<FetchError> wait_for_disk(Block& block);
    boost::asio::awaitable<FetchError> wait_and_retry(Block& block);
    boost::asio::awaitable<bool> send_block(const Block& block, ByteRange part);
    boost::asio::awaitable<bool> send_out_of_whole(ByteRange rest);
    boost::asio::awaitable<Fill::State> head_of(const Fill::Reader& reader);
    std::shared_ptr<const RequestSnapshot> request();
    void note(Block& block, const Fill::State& state);
    Key key_of(const ByteRange& block) const;
    Store::Where where(const Key& key) const;
    bool may_not_fetch() const { return !held_.empty(); }
    BytesBySource expect();
    bool all_here() const;

    ClientContext& client_;
    Frontend& frontend_;
    std::shared_ptr<const StoredResponse> index_;
    const std::optional<UpstreamTarget> origin_;  // none without a site
    BodyVersion version_;
    struct Held {
        std::shared_ptr<const StoredResponse> stored;  // null: it is on the disk
        summary::KeyHash hash;
    };
    std::vector<Held> held_;  // by hold(), from held_from_ on
    std::uint64_t held_from_ = 0;
    std::shared_ptr<PeerNames> in_parts_ = std::make_shared<PeerNames>();
    ByteRange range_;
    Block now_;
    std::optional<Block> next_;
    std::optional<Block> ahead_;  // the first that was missing, if that is not now_
    summary::KeyHash flow_;       // of this version
    std::shared_ptr<const RequestSnapshot> request_;  // once something has to be fetched
    std::optional<ByteRange> fetched_;  // what the origin was asked for, for this request
    bool follows_ = false;              // what a run brings is waited for, as it was begun for this
    std::string expected_peer_, detail_;
    bool peer_gave_ = false;
};

}  // namespace proxy
