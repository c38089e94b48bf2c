#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/client/transaction.hpp"

namespace proxy {

/// Judges a forward target by `forward.blocklists`, counts that, and notes the entry in the books.
/// Returns the text of the 403 page for a target that a list refuses. A target in a list that logs
/// leaves a line in the error log, and returns nothing. `path` is unknown for CONNECT.
std::optional<std::string> judge_by_blocklists(Transaction& transaction, std::string_view host,
                                               std::optional<std::string_view> path);

/// Answers 403 with this text. Cache-Status says `detail=blocklist`.
boost::asio::awaitable<void> refuse_listed(Transaction& transaction, std::string_view text);

}  // namespace proxy
