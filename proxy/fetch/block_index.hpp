#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/fetch/delivery.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/storing.hpp"

namespace proxy {

// The way of a large body from the origin into the store: its index (see Blocks) and its blocks.
// block_plan.hpp has the decisions.

/// The object that stands for a body in blocks, on its way to the store.
struct BlockIndex {
    StoreCandidate candidate;
    std::shared_ptr<LiveFields> live;
};

/// Makes the index from a head, which may be that of a part. `length`: of the whole body. None if
/// the response may not be stored, has no strong validator to name its blocks by, is too large, or
/// finds no room.
std::optional<BlockIndex> make_index(Delivery& delivery, const ReceivedHead& from,
                                     std::uint64_t length);

/// Gives the index to the readers of the target's fill, and to the store.
void publish(Delivery& delivery, BlockIndex index, Delivery::Sender sender);

/// Takes the origin's response to a request for one block, and perhaps for the blocks behind it.
/// `delivery`: of the job for the block.
boost::asio::awaitable<void> take_block(Delivery& delivery, Exchange& exchange);
/// Takes what the origin gives behind the rest of a block that its sender broke off, if it gives
/// more. `delivery`: has ended.
boost::asio::awaitable<void> take_blocks_behind(Delivery& delivery);
/// Takes the origin's response to a request for the first blocks of an unknown body: index and
/// blocks, or whatever first_block() makes of it. `delivery`: of the job for the target.
boost::asio::awaitable<void> begin_in_blocks(Delivery& delivery, Exchange& exchange);
/// Takes a body that is to stand in blocks. Gives `index` to the readers of the target's fill, and
/// cuts the `covered` part of the body into blocks.
boost::asio::awaitable<void> run_in_blocks(Delivery& delivery, BlockIndex index, Exchange& exchange,
                                           ByteRange covered);

}  // namespace proxy
