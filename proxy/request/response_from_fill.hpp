#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "proxy/request/transaction.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// A response out of a fill, whose head is there: how this request came to it.
struct FillResponse {
    Fill::Reader& reader;
    const Fill::State& state;
    bool leads = false;  // the fetch is this request's own
    /// Fields of the origin's consent to this request, which another one's fill answers; or null.
    const LiveFields* consent = nullptr;

    /// The body was fetched for this request. A response that a 304 has confirmed serves everybody
    /// as a hit does.
    bool fetched() const { return leads && !state.incoming.validated; }
    /// Fields that are for this client alone; may be null.
    const LiveFields* live() const {
        return consent ? consent : leads ? state.incoming.live.get() : nullptr;
    }
};

/// Notes peer, origin and cache result in the statistics.
void note_source(RequestStats& stats, const FillResponse& from);
/// Notes outcome and source in the statistics, and completes `status`. `detail` must outlive the
/// result, which views it.
CacheStatus describe(RequestStats& stats, const FillResponse& from, CacheStatus status,
                     std::string& detail);
/// Sends a response that is not in blocks: the body as it comes, or the requested part of it, a 304
/// or a 416.
boost::asio::awaitable<void> respond_from_fill(Transaction& transaction, const FillResponse& from,
                                               const CacheStatus& status);

}  // namespace proxy
