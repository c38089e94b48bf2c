#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>

#include "proxy/request/transaction.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// How an attempt to respond out of the cache ended.
enum class ServeResult : std::uint8_t {
    responded,   // or the client has left
    alone,       // nothing was sent: the request has to go to the origin by itself
    look_again,  // nothing was sent: the store has changed
};

/// Responds out of the blocks of a body, and fetches those that are missing. `index`: the head of
/// the body, which has blocks. `live`: fields of the answer that brought the index to this request,
/// or null. `led`: the request of the fetch that brought the index, if this request has led it and
/// the origin answered; else null.
boost::asio::awaitable<ServeResult> respond_in_blocks(Transaction& transaction,
                                                      std::shared_ptr<const StoredResponse> index,
                                                      CacheStatus status, const LiveFields* live,
                                                      std::shared_ptr<const RequestSnapshot> led);

/// Sends the 504 to a request with only-if-cached.
boost::asio::awaitable<void> refuse_to_fetch(Transaction& transaction);

}  // namespace proxy
