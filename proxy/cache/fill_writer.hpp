#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "proxy/cache/body_writer.hpp"
#include "proxy/cache/cache.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// Moves bodies from exchanges into one fill. A stored one comes at its source's speed; one that is
/// not, or proves too large, waits for its readers in a window, charged to SharedCache::windows.
/// Belongs to the coroutine that runs the fetch.
class FillWriter {
public:
    /// `wakeup`: the fill's writer side. All must outlive this.
    FillWriter(Cache& cache, const Config& config, Claim& claim, Fill& fill, Wakeup& wakeup)
        : cache_(cache),
          config_(config),
          claim_(claim),
          fill_(fill),
          wakeup_(wakeup),
          body_(cache.shared.store, claim, fill, object_max(config)) {}

    /// Where what comes is written, and ended.
    BodyWriter& body() { return body_; }
    /// The rest of the body of `exchange`. `abandoned`: nobody wants it any more. `least_rate`, in
    /// bytes/s over each time in which not all may be silence: less is a `body_timeout`.
    boost::asio::awaitable<FetchError> receive(Exchange& exchange, Fill::Source source,
                                               std::uint64_t least_rate = 0);

private:
    boost::asio::awaitable<FetchError> make_room(std::uint64_t exact);
    boost::asio::awaitable<FetchError> wait_for_readers();

    Cache& cache_;
    const Config& config_;
    Claim& claim_;
    Fill& fill_;
    Wakeup& wakeup_;
    BodyWriter body_;
};

}  // namespace proxy
