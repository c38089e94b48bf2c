#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string_view>

#include "proxy/http/selecting_fields.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/storage/store.hpp"

namespace proxy {

/// How often stored content may change under one request before the node stops to look for it.
inline constexpr int kMaxLooks = 4;

/// Looks into the cache for one request, under the settings of now. The transaction outlives it.
/// One thread.
class CacheLookup {
public:
    explicit CacheLookup(Transaction& transaction) : transaction_(transaction) {}

    /// Finds a response or a fill of `uri`. A response that the settings of now would not have
    /// stored ends here.
    Store::Found find(summary::KeyHash hash, std::string_view uri, const SelectingFields& by,
                      std::chrono::steady_clock::time_point now) const;
    /// Reads a response that is `found` on the disk into memory, and looks again. After
    /// kRecallAtMost, or if too much is being read, it counts as not stored.
    boost::asio::awaitable<Store::Found> recall(Store::Found found, summary::KeyHash hash,
                                                std::string_view uri, SelectingFields by);

    /// Makes a stored response, found for this request, fresh by what a peer has told of it
    /// (renewal.hpp). True: the next find() has the fresh one.
    bool renew(const StoredResponse& stored) const;

    /// Where the response was before this request: recall() may have brought it from the disk.
    Source source_of(const StoredResponse& response) const {
        return recalled_ || response.body->on_disk() ? Source::disk : Source::memory;
    }

private:
    Transaction& transaction_;
    bool recalled_ = false;
};

/// Does the request select this variant?
bool is_variant(const StoredResponse& response, const SelectingFields& by);

}  // namespace proxy
