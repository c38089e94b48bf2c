#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/net/task_group.hpp"
#include "proxy/cache/cache.hpp"
#include "proxy/cache/retry_plan.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/block_flow.hpp"
#include "proxy/storage/body_version.hpp"
#include "proxy/storage/claim.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/telemetry/peers_asked.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// One answer to be fetched for the store: from the peer that probably has it, else from the
/// origin.
struct FetchJob {
    /// `uri`, `hash`: what is wanted, in the store's words (for a block: block_key()). `into`: by
    /// default a new one; else its writer side is that of the coroutine that runs the job.
    FetchJob(Cache& cache, std::shared_ptr<const RequestSnapshot> asked, std::string_view uri,
             summary::KeyHash hash, std::shared_ptr<Wakeup> writer = nullptr,
             std::shared_ptr<Fill> into = nullptr);

    /// A part of a body that is stored in blocks.
    struct Block {
        ByteRange range;
        std::uint64_t length = 0;  // of the whole body
        BodyVersion version;       // that is wanted
        summary::KeyHash target;   // of the body's URI
        /// Of its index: who purges one of them means the block, too.
        std::vector<summary::KeyHash> tags = {};
        /// Peers that announce the target but turned out not to have it in one piece: they are not
        /// asked for blocks that they do not announce. Grows while the job runs; the jobs of one
        /// stream, which are of one worker, share it. Never null.
        std::shared_ptr<PeerNames> in_parts = std::make_shared<PeerNames>();
        std::uint64_t block_bytes = 0;  // of all but the last
        /// The origin is asked for all up to here, as what follows is wanted as well; none: for
        /// this block alone. Where a block ends.
        std::optional<std::uint64_t> up_to = {};

        ByteRange to_ask() const { return {range.first, up_to.value_or(range.last)}; }
    };

    std::shared_ptr<const RequestSnapshot> request;
    RequestDirectives directives;
    std::shared_ptr<Wakeup> wakeup;  // the fill's writer side
    const std::shared_ptr<Fill> fill;
    Claim claim;                                  // on what is stored of it; ends with the fetch
    std::shared_ptr<const StoredResponse> stale;  // to be validated; may be null
    bool may_ask_peers = true;

    /// Where the peers that are asked are told; may be null.
    std::shared_ptr<PeersAsked> peers_asked;
    /// Those that have failed of the body's part that this job is for. Those who began the job may
    /// have it from an earlier one. Never null.
    std::shared_ptr<Tries> tries = std::make_shared<Tries>();

    std::optional<Block> block;  // only this part is wanted
    /// Nothing is stored, and the client wants this range. If it says where it begins, only the
    /// block that holds its first byte is asked of the origin; a suffix only peers are asked for.
    std::optional<RangeRequest> part;
    bool part_of_a_version = false;  // by If-Range: the whole is wanted where there is another
    bool may_use_blocks = true;      // false: however large, it comes in one piece

    /// The same fetch brings this block as well; of a run, the one that it fills now.
    std::unique_ptr<FetchJob> beside;
    std::shared_ptr<BlockFlow> flow;  // of the run that this fetch has become

    protocol::TaskGroup::Stop stop;  // of the fetch that runs it
    bool given_up = false;           // it was stopped as nobody read any more
};

/// Whose blocks are wanted.
struct BlocksOf {
    Blocks blocks;
    BodyVersion version;
    std::span<const summary::KeyHash> tags;  // of the index
};
/// A job for the block at `offset`. `writer`, `into`: as FetchJob has them.
std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         const BlocksOf& body, std::uint64_t offset,
                                         std::shared_ptr<Wakeup> writer = nullptr,
                                         std::shared_ptr<Fill> into = nullptr);
/// The same of the body that stands in blocks under `index`, of this version.
std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         const StoredMetadata& index, BodyVersion version,
                                         std::uint64_t offset);

}  // namespace proxy
