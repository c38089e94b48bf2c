#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/client/transaction.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// Do the conditions of the request make a 304 of this response (RFC 9110 §13.2)?
bool not_modified(const Request& request, const StoredMetadata& response);

/// The part of a body of `length` bytes that the request's Range names (RFC 9110 §14.2). The whole
/// when the length is unknown.
RangeAnswer wanted_part(const Request& request, const StoredMetadata& response,
                        std::optional<std::uint64_t> length);

/// Does the request's Range name several parts of `response`, and apply to it?
bool wants_several_parts(const Request& request, const StoredMetadata& response);
/// What such a request gets of a body of `length` bytes: the whole, the one part or the 416 that is
/// left of its ranges, or `several` of two parts or more.
RangeAnswer answer_to_several(const Request& request, std::uint64_t length,
                              std::vector<ByteRange>& several);

/// Begins a response out of `response`: all of it, or a 206 with `part` of its `length` bytes.
void begin_response(Transaction& transaction, const StoredMetadata& response,
                    const LiveFields* live, std::optional<std::chrono::seconds> age,
                    const CacheStatus& status, const RangeAnswer& part,
                    std::optional<std::uint64_t> length);

/// The request asks for all of `response`, which is in memory, and the transport takes it at once.
bool goes_out_at_once(const Transaction& transaction, const StoredResponse& response);
/// Sends it and fills in the books, without a wait. The rest is as with respond_from_store().
void respond_at_once(Transaction& transaction, const StoredResponse& response, Source stored_in,
                     const CacheStatus& status, summary::KeyHash key);

// Each coroutine sends one response and fills in the books.

/// Sends a complete response or the requested part of it, a 304 or a 416. `stored_in` says where it
/// was before this request, `key` is the key of the store's entry, which for a block is not the
/// request's.
boost::asio::awaitable<void> respond_from_store(Transaction& transaction,
                                                const StoredResponse& response, Source stored_in,
                                                const CacheStatus& status, summary::KeyHash key);
/// Sends a 304 in place of `response`. `age` is empty if that comes straight from its origin.
boost::asio::awaitable<void> respond_not_modified(Transaction& transaction,
                                                  const StoredMetadata& response,
                                                  const LiveFields* live,
                                                  std::optional<std::chrono::seconds> age,
                                                  const CacheStatus& status);
/// Sends a 416 for a body of `length` bytes.
boost::asio::awaitable<void> respond_unsatisfiable(Transaction& transaction, std::uint64_t length,
                                                   const CacheStatus& status);

}  // namespace proxy
