#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/forwarding/client_context.hpp"
#include "proxy/forwarding/fetch.hpp"
#include "proxy/forwarding/route.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// Sends a part of a body that is stored in blocks: those that are there from the store, the others
/// as they are fetched, the next one begun while one is being sent. One coroutine; the client
/// outlives it.
class BlockStream {
public:
    BlockStream(ClientContext& client, std::shared_ptr<const StoredResponse> index,
                OriginRoute route);

    /// Takes hold of all blocks of `range`, so that nothing has to be fetched; false when one is
    /// not stored.
    bool hold(ByteRange range);

    /// Waits until the first block of `range` (within the body) is there or on its way. What is
    /// wrong, if it is not: nothing has been sent then.
    boost::asio::awaitable<FetchError> open(ByteRange range);
    /// Was a block fetched, from wherever?
    bool forwarded() const { return forwarded_; }

    /// Sends the head that the client has composed, then the range. A block that fails cuts the
    /// connection. True when it can carry another request.
    boost::asio::awaitable<bool> send();

private:
    /// Where the bytes of one block come from.
    struct Block {
        ByteRange range;
        summary::KeyHash hash;
        std::shared_ptr<const StoredResponse> stored;
        std::unique_ptr<Fill::Reader> reader;
        bool leader = false;
    };

    Block find_or_fetch(std::uint64_t offset, bool alone);
    boost::asio::awaitable<FetchError> wait(Block& block);
    boost::asio::awaitable<bool> send_block(const Block& block, ByteRange part);
    void note(const Fill::State& state, bool leader);

    ClientContext& client_;
    Worker& worker_;
    std::shared_ptr<const StoredResponse> index_;
    OriginRoute route_;
    std::string etag_;
    std::shared_ptr<const RequestSnapshot> request_;           // once something has to be fetched
    std::vector<std::shared_ptr<const StoredResponse>> held_;  // by hold(), from held_from_ on
    std::uint64_t held_from_ = 0;
    ByteRange range_;
    Block now_;
    std::optional<Block> next_;
    bool forwarded_ = false;
};

}  // namespace proxy
