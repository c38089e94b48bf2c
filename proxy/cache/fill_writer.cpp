#include "proxy/cache/fill_writer.hpp"

#include "proxy/net/pace.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

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
                if (body_.room() == 0) {
                    const auto stopped = co_await make_room(rest);
                    if (stopped != FetchError::none) co_return stopped;
                }
                const auto n = std::min(piece.size(), body_.room());
                body_.append(piece.substr(0, n));
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
    const auto was_storing = body_.storing();
    if (body_.grow(exact, Clock::now())) co_return FetchError::none;
    // Whoever comes now does not wait for this one (hit-for-miss).
    if (was_storing) claim_.abandon(true, Clock::now());
    const auto waited = co_await wait_for_readers();
    if (waited != FetchError::none) co_return waited;
    auto& windows = cache_.shared.windows;
    const auto share = window_share(windows, fill_.window_bytes());
    auto bytes = std::min<std::size_t>(fill_.next_block_bytes(),
                                       std::max<std::size_t>(share / 4, kFirstBlockBytes));
    if (exact > 0) bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, exact));
    // All may be in use: what is to move on takes small steps beside it, one at a time.
    Charge charge;
    if (windows.take(bytes))
        charge = Charge(windows, bytes);
    else
        bytes = std::min(bytes, kFirstBlockBytes);
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

}  // namespace proxy
