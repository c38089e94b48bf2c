#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "proxy/forwarding/exchange.hpp"
#include "proxy/forwarding/fetch.hpp"

namespace proxy {

/// Asks the job's origin, with these lines beside the request's own, and waits for the head; books
/// that it was asked. What it says is in `exchange` then.
boost::asio::awaitable<FetchError> ask_origin(Worker& worker, const FetchJob& job,
                                              std::string_view lines, Exchange& exchange);

}  // namespace proxy
