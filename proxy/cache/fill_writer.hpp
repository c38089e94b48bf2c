#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "proxy/cache/cache.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/claim.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// Moves bodies into one fill. A stored one is charged to the store block by block and comes at its
/// source's speed; one that is not, or proves too large, waits for its readers in a window,
/// charged to SharedCache::windows. Belongs
/// to the coroutine that runs the fetch.
class FillWriter {
public:
    /// `wakeup`: the fill's writer side. All must outlive this.
    FillWriter(Cache& cache, const Config& config, Claim& claim, Fill& fill, Wakeup& wakeup)
        : cache_(cache), config_(config), claim_(claim), fill_(fill), wakeup_(wakeup) {}

    /// Shows the head to the readers.
    void begin(Fill::Answer answer);
    /// The rest of the body of `exchange`. `abandoned`: nobody wants it any more. `least_rate`, in
    /// bytes/s over each time in which not all may be silence: less is a `body_timeout`.
    boost::asio::awaitable<FetchError> receive(Exchange& exchange, Fill::Source source,
                                               std::uint64_t least_rate = 0);

    StorageVerdict verdict() const { return verdict_; }

    /// No single object pushes out more than half of what is stored.
    static std::uint64_t object_max(const Config& config) {
        return std::min(config.cache.object_max, config.cache.memory / 2);
    }

private:
    boost::asio::awaitable<FetchError> make_room(std::uint64_t exact);
    boost::asio::awaitable<FetchError> wait_for_readers();
    void stop_sharing(StorageVerdict why);

    Cache& cache_;
    const Config& config_;
    Claim& claim_;
    Fill& fill_;
    Wakeup& wakeup_;
    bool shared_ = false;
    StorageVerdict verdict_ = StorageVerdict::store;
};

}  // namespace proxy
