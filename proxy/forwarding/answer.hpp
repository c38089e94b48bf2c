#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>

#include "proxy/forwarding/client_context.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// A fetch keeps its own deadlines; this one only bounds waiting for one that is no more.
inline constexpr std::chrono::minutes kFollowAtMost{10};

/// Do the conditions of the client's request make a 304 of this response (RFC 9110 §13.2)?
bool not_modified(const ClientContext& client, const StoredResponse& response);

// Each sends one answer and fills in the turn; true when the connection can carry another request.

/// A complete response, or 304.
boost::asio::awaitable<bool> send_stored(ClientContext& client, const StoredResponse& response,
                                         const CacheStatus& status);
/// 304 in place of `response`; `age` empty: it comes straight from its origin.
boost::asio::awaitable<bool> send_not_modified(ClientContext& client,
                                               const StoredResponse& response,
                                               std::optional<std::chrono::seconds> age,
                                               const CacheStatus& status);
/// The head that `client` has composed, then the fill's body as it grows. If the fill fails, the
/// connection is cut: a short body is never passed as a whole one.
boost::asio::awaitable<bool> send_growing(ClientContext& client, Fill::Reader& reader,
                                          Framing framing);

}  // namespace proxy
