#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/cache/delivery.hpp"
#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/storing.hpp"

namespace proxy {

// Where the index of a body in blocks comes from (see Blocks), and its blocks from the origin. What
// is made of answers on the way is in block_plan.hpp.

/// The object that stands for a body in blocks, on its way to the store.
struct BlockIndex {
    Draft draft;
    std::shared_ptr<LiveFields> live;
};

/// Of a head, be it that of a part; `length` is the whole body's. None when it may not be stored,
/// has no strong validator to name its blocks by, is too large, or there is no room.
std::optional<BlockIndex> make_index(Delivery& delivery, const Received& from,
                                     std::uint64_t length);

/// Gives the index to those who wait for the target, and to the store.
void publish(Delivery& delivery, BlockIndex index, Delivery::Sender sender);

/// Takes the origin's answer to a question for one block, and maybe those that follow it;
/// `delivery` is that of `asked`, the job for the block.
boost::asio::awaitable<void> take_block(Delivery& delivery, Exchange& exchange);
/// The origin gave blocks as it was asked to, of a body of which nothing was known: index and
/// blocks, or what else is to be made of it. `delivery` is that of `asked`, the job for the target.
boost::asio::awaitable<void> begin_in_blocks(Delivery& delivery, Exchange& exchange);
/// The origin gives a body that is to stand in blocks: gives `index`, of its head, to those who
/// wait for the target, and cuts the body, of which this comes, into blocks.
boost::asio::awaitable<void> run_in_blocks(Delivery& delivery, BlockIndex index, Exchange& exchange,
                                           ByteRange covered);

}  // namespace proxy
