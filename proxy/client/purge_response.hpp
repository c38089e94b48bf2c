#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/client/client_context.hpp"

namespace proxy {

/// A PURGE request: what is stored under its target, all variants, is dropped here and at all
/// peers; the answer says who has done so. For those whom `purge.allow` lists, else 403. Never goes
/// to the origin. True when the client's connection can go on.
boost::asio::awaitable<bool> respond_to_purge(ClientContext& client);

}  // namespace proxy
