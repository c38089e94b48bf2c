#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/cache/body_writer.hpp"
#include "proxy/cache/cache.hpp"
#include "proxy/cache/resume_plan.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// Moves bodies from exchanges into one fill. A stored one comes at its source's speed; one that is
/// not waits for its readers. Belongs to the coroutine that runs the fetch.
class FillWriter {
public:
    /// `wakeup`: the fill's writer side. All must outlive this.
    FillWriter(Cache& cache, const Config& config, Claim& claim, Fill& fill, Wakeup& wakeup)
        : config_(config),
          fill_(fill),
          wakeup_(wakeup),
          body_(cache.shared.store, cache.shared.windows, claim, fill, object_max(config)) {}

    /// Where what comes is written, and ended.
    BodyWriter& body() { return body_; }
    /// The rest of the body of `exchange`. `abandoned`: nobody wants it any more.
    boost::asio::awaitable<FetchError> receive(Exchange& exchange, BodyPace expected);

private:
    boost::asio::awaitable<FetchError> make_room(std::uint64_t exact);

    const Config& config_;
    Fill& fill_;
    Wakeup& wakeup_;
    BodyWriter body_;
};

}  // namespace proxy
