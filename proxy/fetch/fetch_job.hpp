#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/async/task_group.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/retry_plan.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/block_flow.hpp"
#include "proxy/storage/body_version.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/fill_lease.hpp"
#include "proxy/telemetry/peer_request_log.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// The experience of one stream of blocks with the peers.
struct PeersOfStream {
    /// Announce the target and turned out to lack it in one piece. They get no request for a block
    /// that they do not announce.
    PeerNames in_parts;
    /// The origin overtook them inside a block. They get no more requests, and the stream leaves
    /// their fetches. Behind the second one, it follows no other node either.
    PeerNames slow;
    std::string followed;  // the node that fetched the last block which came from a peer's fetch
    std::string left;      // whose fetch was much slower than the origin, once for each stream
    std::uint64_t bytes_given = 0;  // by all of them
};

/// A block of a body that is stored in blocks.
struct WantedBlock {
    ByteRange range;
    std::uint64_t length = 0;  // of the whole body
    BodyVersion version;
    summary::KeyHash target;                  // of the body's URI
    std::vector<summary::KeyHash> tags = {};  // of its index: a purge of one ends the block, too
    std::uint64_t block_bytes = 0;            // of all blocks but the last
    std::optional<std::uint64_t> up_to =
        {};  // end of a block: the origin is asked for all bytes up to it
    /// Shared by the jobs of one stream, all on one worker, and changed while they run. Never null.
    std::shared_ptr<PeersOfStream> peers = std::make_shared<PeersOfStream>();
    std::uint64_t bytes_behind = 0;  // that the stream wants, too

    /// The range that the origin is asked for: this block, and those that the reader wants next.
    ByteRange to_ask() const { return {range.first, up_to.value_or(range.last)}; }
};

/// A client's range of a body of which nothing is stored. The origin is asked for the blocks around
/// a range that states its first byte; a suffix comes from peers alone.
struct WantedPart {
    RangeRequest range;
    bool of_a_version = false;  // by If-Range: another version is wanted as a whole
};

/// The content that a fetch is to bring, and the request that wants it: the whole body, or one
/// block, or one part.
struct FetchTarget {
    std::shared_ptr<const RequestSnapshot> request;  // with its site; never null
    RequestDirectives directives;                    // of the client; a block has none
    std::optional<WantedBlock> block;
    std::optional<WantedPart> part;
    bool may_use_blocks = true;  // false: the body comes in one piece, however large
};

/// The places where a fetch may get it, beside the origin of FetchTarget::request.
struct FetchSources {
    bool may_ask_peers = true;
    std::shared_ptr<const StoredResponse> stale;  // to be validated; may be null
    std::shared_ptr<PeerRequestLog> peers_asked;  // log of the peer requests; may be null
    bool others_have = false;  // peers announce the content; set when the summaries are read
    /// A node of the cluster, perhaps this one, fetches all blocks of the body, so nobody has it in
    /// one piece, and the origin is the last to be asked. Set when the fetch begins, or meets.
    bool of_run = false;
    /// The sender of the block fetches the body for several nodes. Set when its response is taken.
    bool follows_run = false;
    /// Failed tries at the body's part, shared with the client's request, which may have begun
    /// earlier fetches for it. Null: none has failed.
    std::shared_ptr<RetryBudget> tries = nullptr;
};

/// The fill that a fetch writes and the wakeup of the coroutine that writes it. Empty: the job
/// makes both.
struct FillSlot {
    std::shared_ptr<base::Wakeup> writer = nullptr;
    std::shared_ptr<Fill> fill = nullptr;
};

/// The result of a fetch on its way to its readers and to the store.
struct FetchResult {
    FetchResult(Cache& cache, const RequestSnapshot& request, const summary::Key& key,
                FillSlot slot);

    const std::shared_ptr<base::Wakeup> wakeup;  // of the writer
    const std::shared_ptr<Fill> fill;
    FillLease lease;  // on the store's key; ends with the fetch
};

struct FetchJob;

/// The state of a running fetch.
struct FetchProgress {
    std::unique_ptr<FetchJob> beside;  // of a run: the job of the block that it fills now
    std::optional<OpenFlow> flow;      // of the run that the fetch has become, or is about to
    base::TaskGroup::Stop stop;        // of its coroutine
    bool given_up = false;             // stopped, as the last reader has left
};

/// One response to be fetched for the store: from a peer that probably has it, else from the
/// origin. One worker thread.
struct FetchJob {
    /// `key`: of the content in the store; for a block, of block_key().
    FetchJob(Cache& cache, std::shared_ptr<const RequestSnapshot> request, const summary::Key& key,
             FillSlot slot = {});

    FetchTarget wanted;
    FetchSources from;
    FetchResult result;
    FetchProgress progress;
};

/// A body in blocks.
struct BlocksOf {
    Blocks blocks;
    BodyVersion version;
    std::span<const summary::KeyHash> tags;  // of the index, which must outlive this
};
/// The body that stands in blocks under `index`.
BlocksOf blocks_of(const StoredMetadata& index, BodyVersion version);
/// The body of a wanted block, which must outlive the result.
BlocksOf body_around(const WantedBlock& block);
/// A job for the block at `offset`.
std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         const BlocksOf& body, std::uint64_t offset,
                                         FillSlot slot = {});

}  // namespace proxy
