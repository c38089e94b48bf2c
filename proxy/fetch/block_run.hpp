#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "proxy/fetch/delivery.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/storage/block_flow.hpp"

namespace proxy {

/// One response of the origin, of a whole body or of several blocks, that is cut into blocks as it
/// comes. Each block is stored as if it had a request of its own, so the origin has one request
/// where a client had one. The run begins a block when a reader waits for it or for a later one: it
/// is a block ahead of its readers, and a slow client holds the origin back instead of filling
/// memory. Blocks in the store, or on their way to it, are read and dropped. The run ends with the
/// response, or when nobody has read it for some time (ReaderTimeout). Its remaining readers then
/// request their blocks themselves. Belongs to the coroutine that runs the fetch `job`.
class BlockRun {
public:
    /// The content of the response.
    struct Of {
        BlocksOf body;
        ByteRange covered;  // of the body, from where a block begins
        bool storable;      // its head allows the blocks to be stored
    };
    /// Calls open_flow(). All references must outlive this.
    BlockRun(Cache& cache, FetchJob& job, Of of, Exchange& exchange);
    BlockRun(const BlockRun&) = delete;
    BlockRun& operator=(const BlockRun&) = delete;
    ~BlockRun();

    /// `own`: the delivery of `job`, if that is the job for one of the blocks; else null.
    boost::asio::awaitable<void> run(Delivery* own);

private:
    boost::asio::awaitable<bool> wait_until_wanted(std::uint64_t offset, bool own_is_to_come);
    boost::asio::awaitable<bool> bring(const ByteRange& block, Delivery* own);
    boost::asio::awaitable<bool> send_into(Delivery& delivery, const ByteRange& block);
    boost::asio::awaitable<bool> skip_to(std::uint64_t offset);
    void note_fetcher();
    void came(std::uint64_t bytes);

    Cache& cache_;
    FetchJob& job_;
    const BlocksOf body_;
    Exchange& exchange_;
    const ByteRange covered_;
    std::uint64_t at_;  // position in the body up to which the response was read
};

}  // namespace proxy
