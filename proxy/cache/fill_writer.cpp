#include "proxy/cache/fill_writer.hpp"

#include "proxy/net/pace.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

void FillWriter::begin(Fill::Answer answer) {
    shared_ = answer.shared;
    verdict_ = answer.verdict;
    fill_.begin(std::move(answer));
}

asio::awaitable<FetchError> FillWriter::receive(Exchange& exchange, Fill::Source source,
                                                std::uint64_t least_rate) {
    // A peer is near, and the origin can give the rest.
    const auto idle = source == Fill::Source::peer
                          ? std::min(config_.cluster->peer_stall, config_.timeouts.body_idle)
                          : config_.timeouts.body_idle;
    const auto least = least_bytes(least_rate, idle);
    Pace pace;
    std::int64_t came = 0;
    while (!exchange.done()) {
        if (!fill_.wanted()) co_return FetchError::abandoned;
        const auto begun = Clock::now();
        if (least > 0) pace.wait(begun, came, idle);
        const auto error = co_await exchange.read_body(begun + idle);
        if (error != FetchError::none) co_return error;
        for (const auto piece : exchange.pieces()) came += static_cast<std::int64_t>(piece.size());
        if (least > 0 && !exchange.done() &&
            !pace.fast_enough(Clock::now(), idle, least, [came] { return came; }))
            co_return FetchError::body_timeout;
        std::uint64_t rest = 0;  // what is at hand, when it is all there is
        if (exchange.done())
            for (const auto piece : exchange.pieces()) rest += piece.size();
        for (auto piece : exchange.pieces()) {
            while (!piece.empty()) {
                if (fill_.room() == 0) {
                    const auto stopped = co_await make_room(rest);
                    if (stopped != FetchError::none) co_return stopped;
                }
                const auto n = std::min(piece.size(), fill_.room());
                fill_.append(piece.substr(0, n));
                piece.remove_prefix(n);
                rest -= std::min<std::uint64_t>(rest, n);
            }
        }
    }
    co_return FetchError::none;
}

/// A new block; for a body that is not stored, after its readers made way. `exact`: bytes still to
/// come, if known here.
asio::awaitable<FetchError> FillWriter::make_room(std::uint64_t exact) {
    if (shared_ && fill_.received() >= object_max(config_)) stop_sharing(StorageVerdict::too_large);
    auto bytes = fill_.next_block_bytes();
    if (exact > 0)
        bytes = std::min<std::size_t>(bytes, std::min<std::uint64_t>(exact, kBodyBlockBytes));
    Charge charge;
    if (shared_) {
        auto reserved = cache_.shared.store.reserve(bytes);
        if (reserved)
            charge = std::move(*reserved);
        else
            stop_sharing(StorageVerdict::no_room);
    }
    if (!shared_) {
        const auto waited = co_await wait_for_readers();
        if (waited != FetchError::none) co_return waited;
        auto& windows = cache_.shared.windows;
        const auto share = window_share(windows, fill_.window_bytes());
        bytes = std::min<std::size_t>(
            {bytes, fill_.next_block_bytes(), std::max<std::size_t>(share / 4, kFirstBlockBytes)});
        // All may be in use: what is to move on takes small steps beside it, one at a time.
        if (windows.take(bytes))
            charge = Charge(windows, bytes);
        else
            bytes = std::min(bytes, kFirstBlockBytes);
    }
    fill_.add_block(bytes, std::move(charge));
    co_return FetchError::none;
}

/// Until the window has room, or all has been taken. That may take its time: a client that takes
/// too little is cut by its own connection, and then reads no more.
asio::awaitable<FetchError> FillWriter::wait_for_readers() {
    const auto& windows = cache_.shared.windows;
    while (fill_.wanted()) {
        const auto ahead = fill_.ahead();
        if (ahead == 0 || ahead < window_share(windows, fill_.window_bytes())) break;
        co_await wakeup_.wait_until(Clock::now() + config_.timeouts.body_idle);
    }
    co_return fill_.wanted() ? FetchError::none : FetchError::abandoned;
}

void FillWriter::stop_sharing(StorageVerdict why) {
    shared_ = false;
    verdict_ = why;
    fill_.stop_sharing();
    claim_.abandon(true, Clock::now());
}

}  // namespace proxy
