#include "proxy/cache/fill_writer.hpp"

#include "proxy/net/pace.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

asio::awaitable<FetchError> FillWriter::receive(Exchange& exchange, BodyPace expected) {
    const auto idle = expected.idle;
    const auto least = expected.least_bytes;
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

/// `exact`: bytes still to come, if known here.
asio::awaitable<FetchError> FillWriter::make_room(std::uint64_t exact) {
    for (;;) {
        switch (body_.make_room(exact, Clock::now())) {
            case BodyWriter::Room::made:
                co_return FetchError::none;
            case BodyWriter::Room::unwanted:
                co_return FetchError::abandoned;
            case BodyWriter::Room::after_readers:
                co_await wakeup_.wait_until(Clock::now() + config_.timeouts.body_idle);
                break;
        }
    }
}

}  // namespace proxy
