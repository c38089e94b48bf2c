#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>

#include "proxy/fetch/body_writer.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/peer_response_pace.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// Moves bodies from exchanges into one fill. A stored body comes at its sender's speed, any other
/// at its readers' speed. Belongs to the coroutine that runs the fetch.
class FillWriter {
public:
    /// Writes the fill of `job`. Both must outlive this.
    FillWriter(Cache& cache, FetchJob& job)
        : config_(job.wanted.request->config()),
          fill_(*job.result.fill),
          wakeup_(*job.result.wakeup),
          body_(cache.shared.store, cache.shared.windows, job.result.lease, fill_,
                object_max(job.wanted.request->policy())) {}

    /// The writer of the fill, which ends it.
    BodyWriter& body() { return body_; }
    /// The terms for the sender.
    struct Watch {
        std::chrono::nanoseconds silence_at_most{};
        std::uint64_t leave_out = 0;  // so many bytes at the beginning are there already
        std::optional<PeerResponsePace> pace;
        /// Called on the advice of `pace`. True: this sender is left at once.
        std::function<bool()> look_elsewhere;
        /// Length of the wanted slice; bytes behind it stay in the exchange.
        std::optional<std::uint64_t> slice;
        /// Called with the bytes of a slice as they come; may be empty.
        std::function<void(std::uint64_t)> came;
    };
    /// Receives the rest of the body of `exchange`. `abandoned`: the readers have left.
    boost::asio::awaitable<FetchError> receive(Exchange& exchange, Watch& watch);
    /// Receives a slice of it, `watch.slice` bytes long, behind `watch.leave_out`.
    boost::asio::awaitable<FetchError> receive_slice(Exchange& exchange, const Watch& watch);
    /// The bytes that the last call took. If its readers made the sender wait, the later bytes say
    /// nothing about the sender's rate.
    struct Took {
        std::uint64_t bytes = 0;
        std::chrono::nanoseconds waited{0};
        bool at_the_senders_pace = true;
    };
    const Took& took() const { return took_; }

private:
    BodyWriter::Room append_now(std::string_view& piece, std::uint64_t& rest);
    boost::asio::awaitable<FetchError> append(std::string_view piece, std::uint64_t& rest);
    std::optional<std::uint64_t> missing(const Exchange& exchange) const;

    const LoadedConfig& config_;
    Fill& fill_;
    base::Wakeup& wakeup_;
    BodyWriter body_;
    Took took_;
};

}  // namespace proxy
