#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/cache/delivery.hpp"
#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/storing.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// Where the index of a body in blocks comes from (see Blocks), and its blocks from the origin.

/// The object that stands for a body in blocks, on its way to the store.
struct BlockIndex {
    Draft draft;
    std::shared_ptr<LiveFields> live;
};

/// Of a head, be it that of a part; `length` is the whole body's. None when it may not be stored,
/// has no strong validator to name its blocks by, is too large, or there is no room.
std::optional<BlockIndex> make_index(Delivery& delivery, const FetchJob& job, const Received& from,
                                     std::uint64_t length);

/// Gives the index to those who wait for the target, and to the store.
void publish(Delivery& delivery, BlockIndex index, Delivery::Sender sender);

/// Takes the origin's answer to a question for one block; `delivery` is that block's.
boost::asio::awaitable<void> take_block(Delivery& delivery, const FetchJob::Block& wanted,
                                        Exchange& exchange);
/// The origin gave a block as it was asked to, of a body of which nothing was known: index and
/// block, or what else is to be made of it. `delivery` is that of `asked`, the job for the target,
/// which owns that for the block then.
boost::asio::awaitable<void> begin_in_blocks(Cache& cache, FetchJob& asked, Delivery& delivery,
                                             Exchange& exchange);

/// What becomes of the origin's answer to a question for the block in which `part` begins, of a
/// body of which nothing was known.
enum class FirstBlock : std::uint8_t {
    index_and_block,  // both are stored, and what is missing follows block by block
    as_it_is,         // not to be stored, but the very answer
    not_in_parts,     // of no use: the client's range is asked for as it is
};
/// `index`: what can be stored of its head, if anything. `of_a_version`: the client's range is for
/// one version alone (If-Range), which this need not be.
FirstBlock first_block(const RangeRequest& part, bool of_a_version,
                       const std::optional<ContentRange>& given,
                       const std::optional<Blocks>& index);
/// Why this is not the block that is wanted; `none`: it is.
FetchError judge_block(const FetchJob::Block& wanted, const Head& head);

/// Is this exactly the block that is wanted, of that version?
bool is_wanted(const FetchJob::Block& wanted, const Head& head);
/// The same of an answer of a peer, whose body of `length` bytes ends where the block does: else it
/// could not go on elsewhere.
bool is_given(const FetchJob::Block& wanted, const Head& head,
              const std::optional<std::uint64_t>& length);
/// Is this the part that was asked for, as far as the body reaches?
bool is_wanted(const RangeRequest& part, const ContentRange& given);

/// Is this the whole body of that version, in one piece? Then what stood in blocks can go on by it.
/// `etag`: strong.
bool is_whole_of(const StoredMetadata& response, std::string_view etag);

/// A peer's answer to a question for a target that it holds in blocks: 304, which never has a body,
/// and its Content-Length is that of the whole. The question had no condition, so that it means
/// nothing else. None when it says no length.
std::optional<std::uint64_t> length_of_head_alone(const Head& head);

}  // namespace proxy
