#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/http/range.hpp"
#include "proxy/request/body_sender.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// Do the conditions of the request make a 304 of this response (RFC 9110 §13.2)?
bool not_modified(const Request& request, const StoredMetadata& response);

/// The part of a body of `length` bytes that the request's Range names (RFC 9110 §14.2). The whole
/// when the length is unknown.
RangeAnswer wanted_part(const Request& request, const StoredMetadata& response,
                        std::optional<std::uint64_t> length);

/// What a request gets of a body of `length` bytes, of which all are there: the whole, one part or
/// a 416, or `several` parts, at least two.
struct WantedParts {
    RangeAnswer one = {};
    bool names_several = false;  // the Range does, whatever is left of it
    std::vector<ByteRange> several = {};
};
WantedParts wanted_parts(const Request& request, const StoredMetadata& response,
                         std::uint64_t length);

/// Begins a response out of `response`: all of it, or a 206 with `part` of its `length` bytes.
void begin_response(Transaction& transaction, const StoredMetadata& response,
                    const LiveFields* live, std::optional<std::chrono::seconds> age,
                    const CacheStatus& status, const RangeAnswer& part,
                    std::optional<std::uint64_t> length);

/// The request asks for all of `response`, which is in memory.
bool goes_out_at_once(const Transaction& transaction, const StoredResponse& response);
/// Sends as much of it as goes out without a wait, and fills in the statistics. Returns the sender
/// of the rest, or null. Otherwise as respond_from_store().
std::unique_ptr<BodySender> respond_at_once(Transaction& transaction,
                                            const StoredResponse& response, Source stored_in,
                                            const CacheStatus& status, summary::KeyHash key);

// Each coroutine sends one response and fills in the statistics.

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
