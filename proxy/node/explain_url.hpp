#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "proxy/fetch/explain.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/node/worker.hpp"

namespace proxy {

/// Calls explain() on one worker, which knows peers and origins by its own requests. Returns
/// nullopt if the worker has ended, or takes twice as long as peers may. Control thread.
boost::asio::awaitable<std::optional<Explanation>> explain_url(Worker& worker,
                                                               boost::asio::io_context& control,
                                                               CacheKey key);

}  // namespace proxy
