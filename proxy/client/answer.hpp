#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>

#include "proxy/client/client_context.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// A fetch keeps its own deadlines; this one only bounds waiting for one that is no more.
inline constexpr std::chrono::minutes kFollowAtMost{10};

inline constexpr std::size_t kBuffersPerSend = 64;
inline constexpr std::uint64_t kBytesPerSend = 4 * 1024 * 1024;

/// Do the conditions of the client's request make a 304 of this response (RFC 9110 §13.2)?
bool not_modified(const ClientContext& client, const StoredResponse& response);

/// What of a body of `length` bytes the client's Range asks for (RFC 9110 §14.2); the whole when
/// the length is not known.
RangeAnswer wanted_part(const ClientContext& client, const StoredResponse& response,
                        std::optional<std::uint64_t> length);
/// As ClientContext::compose, for 206: the head of the whole response, which is `length` long.
void compose_part(ClientContext& client, const std::string& stored_head, const LiveFields* live,
                  std::optional<std::chrono::seconds> age, const CacheStatus& status,
                  const ByteRange& range, std::uint64_t length);

// Each sends one answer and fills in the turn; true when the connection can carry another request.

/// A complete response or the part that was asked for, or 304, or 416. `key`: of the store's entry,
/// which for a block is not the client's.
boost::asio::awaitable<bool> send_stored(ClientContext& client, const StoredResponse& response,
                                         const CacheStatus& status, summary::KeyHash key);
/// 304 in place of `response`; `age` empty: it comes straight from its origin. `live`: as for
/// ClientContext::compose.
boost::asio::awaitable<bool> send_not_modified(ClientContext& client,
                                               const StoredResponse& response,
                                               const LiveFields* live,
                                               std::optional<std::chrono::seconds> age,
                                               const CacheStatus& status);
/// 416 for a body of `length` bytes.
boost::asio::awaitable<bool> send_unsatisfiable(ClientContext& client, std::uint64_t length,
                                                const CacheStatus& status);
/// The head that `client` has composed, then the fill's body as it grows, from the reader's
/// position on: all of it, or `bytes`. If the fill fails, the
/// connection is cut: a short body is never passed as a whole one. `fetched`: for this request, so
/// it is no hit.
boost::asio::awaitable<bool> send_growing(ClientContext& client, Fill::Reader& reader,
                                          Framing framing, std::optional<std::uint64_t> bytes,
                                          bool fetched);
/// Books what was sent of `piece`, behind `before` bytes of framing.
void book_piece(ClientContext& client, const Fill::Piece& piece, bool fetched,
                std::uint64_t before = 0);

}  // namespace proxy
