#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "proxy/cache/delivery.hpp"
#include "proxy/cache/fetch_job.hpp"
#include "proxy/storage/block_flow.hpp"

namespace proxy {

/// One answer of the origin, of a whole body or of several blocks of it, which is cut into blocks
/// as it comes: each is stored as if it had been asked for by itself. The origin so has one request
/// where a client had one. A block is begun when somebody waits for it or for one behind it, so the
/// run is ahead of its readers by a block, and a slow client holds the origin back, not the memory.
/// What is stored already, or on its way, is read and dropped. Ends when the answer does, or when
/// nobody has waited for kAloneAtMost; those who still wait then ask for their blocks themselves.
/// Belongs to the coroutine that runs the fetch `asked`.
class BlockRun {
public:
    /// What the answer brings.
    struct Of {
        BlocksOf body;
        ByteRange covered;  // of the body, from where a block begins
        bool storable;      // its head allows the blocks to be stored
    };
    /// From here on the blocks are found as a flow, by others only if they are storable. All
    /// references must outlive this.
    BlockRun(Cache& cache, FetchJob& asked, Of of, Exchange& exchange);
    BlockRun(const BlockRun&) = delete;
    BlockRun& operator=(const BlockRun&) = delete;
    ~BlockRun();

    /// `own`: the delivery of `asked`, where that is the job for one of the blocks; else null.
    boost::asio::awaitable<void> run(Delivery* own);

private:
    boost::asio::awaitable<bool> wait_until_wanted(std::uint64_t offset, bool own_is_to_come);
    boost::asio::awaitable<bool> bring(const ByteRange& block, Delivery* own);
    boost::asio::awaitable<bool> send_into(Delivery& delivery, const ByteRange& block);
    boost::asio::awaitable<bool> skip_to(std::uint64_t offset);
    void came(std::uint64_t bytes);

    Cache& cache_;
    FetchJob& asked_;
    const BlocksOf body_;
    Exchange& exchange_;
    const ByteRange covered_;
    const summary::KeyHash version_;
    std::uint64_t at_;  // in the body: so far the answer was read
};

}  // namespace proxy
