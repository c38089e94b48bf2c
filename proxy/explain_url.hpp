#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "proxy/cache/explain.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/worker.hpp"

namespace proxy {

/// explain() as one worker sees it, which has its own experience with peers and origins. Control
/// thread. Nothing if that worker has ended, or takes twice as long as peers may.
boost::asio::awaitable<std::optional<Explanation>> explain_url(Worker& worker,
                                                               boost::asio::io_context& control,
                                                               CacheKey key);

}  // namespace proxy
