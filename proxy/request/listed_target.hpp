#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/request/transaction.hpp"

namespace proxy {

/// The answer to a request that a list refuses.
struct ListedPage {
    unsigned status = 403;
    std::string text;
};

/// Judges a forward target by `forward.blocklists`, counts that, and notes the entry in the
/// statistics. Returns the page for a target that a list refuses: 403, or 503 where the file of
/// entries cannot be read and a list that refuses may have the target. A target in a list that logs
/// leaves a line in the error log, and returns nothing. `path` is unknown for CONNECT.
std::optional<ListedPage> judge_by_blocklists(Transaction& transaction, std::string_view host,
                                              std::optional<std::string_view> path);

/// Answers with this page. Cache-Status says `detail=blocklist`.
boost::asio::awaitable<void> refuse_listed(Transaction& transaction, const ListedPage& page);

}  // namespace proxy
