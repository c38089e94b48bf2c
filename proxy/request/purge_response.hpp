#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/request/transaction.hpp"

namespace proxy {

/// Responds to PURGE: this node and all peers drop everything stored under the target, all
/// variants, and the response lists who has done so. A client that `purge.allow` does not list gets
/// a 403. A PURGE never goes to the origin.
boost::asio::awaitable<void> respond_to_purge(Transaction& transaction);

}  // namespace proxy
