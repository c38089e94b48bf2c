#include "proxy/fetch/fill_writer.hpp"

#include <algorithm>

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

asio::awaitable<FetchError> FillWriter::receive(Exchange& exchange, Watch& watch) {
    took_ = {};
    auto leave_out = watch.leave_out;
    fill_.flowed(0, Clock::now());
    while (!exchange.done()) {
        if (!fill_.wanted()) co_return FetchError::abandoned;
        const auto begun = Clock::now();
        const auto error = co_await exchange.read_body(begun + watch.silence_at_most);
        const auto waited = Clock::now() - begun;
        took_.waited += waited;
        if (error != FetchError::none) co_return error;
        std::uint64_t bytes = 0;
        for (const auto piece : exchange.pieces()) bytes += piece.size();
        took_.bytes += bytes;
        fill_.flowed(bytes, begun + waited);
        if (watch.pace && !exchange.done()) {
            switch (watch.pace->waited(waited, bytes, missing(exchange))) {
                case PeerResponsePace::Advice::goes_on:
                    break;
                case PeerResponsePace::Advice::look_elsewhere:
                    if (watch.look_elsewhere()) co_return FetchError::body_timeout;
                    break;
                case PeerResponsePace::Advice::stalled:
                    co_return FetchError::body_timeout;
            }
        }
        std::uint64_t rest = 0;  // what is at hand, when it is all there is
        if (exchange.done())
            for (const auto piece : exchange.pieces()) rest += piece.size();
        for (auto piece : exchange.pieces()) {
            const auto known = std::min<std::uint64_t>(leave_out, piece.size());
            piece.remove_prefix(known);
            leave_out -= known;
            rest -= std::min(rest, known);
            if (append_now(piece, rest) == BodyWriter::Room::made) continue;
            const auto stopped = co_await append(piece, rest);
            if (stopped != FetchError::none) co_return stopped;
        }
    }
    co_return FetchError::none;
}

asio::awaitable<FetchError> FillWriter::receive_slice(Exchange& exchange, const Watch& watch) {
    took_ = {};
    auto leave_out = watch.leave_out;
    auto missing = *watch.slice;
    while (missing > 0) {
        if (!fill_.wanted()) co_return FetchError::abandoned;
        if (exchange.pieces().empty()) {
            if (exchange.done()) co_return FetchError::reset;  // it was too short
            const auto begun = Clock::now();
            const auto error = co_await exchange.read_body(begun + watch.silence_at_most);
            took_.waited += Clock::now() - begun;
            if (error != FetchError::none) co_return error;
            continue;
        }
        const auto piece = exchange.pieces().front();
        if (leave_out > 0) {
            const auto known = std::min<std::uint64_t>(piece.size(), leave_out);
            exchange.take(known);
            leave_out -= known;
            took_.bytes += known;
            continue;
        }
        const auto n = std::min<std::uint64_t>(piece.size(), missing);
        auto rest = missing;
        const auto stopped = co_await append(piece.substr(0, n), rest);
        if (stopped != FetchError::none) co_return stopped;
        exchange.take(n);
        missing -= n;
        took_.bytes += n;
        if (watch.came) watch.came(n);
    }
    co_return FetchError::none;
}

/// Takes what it appends off the front of `piece`. Room::made: all of it. `rest`: the bytes still
/// to come, this piece included; 0: unknown.
BodyWriter::Room FillWriter::append_now(std::string_view& piece, std::uint64_t& rest) {
    while (!piece.empty()) {
        auto room = body_.room();
        if (room == 0) {
            const auto made = body_.make_room(rest, Clock::now());
            if (made != BodyWriter::Room::made) return made;
            room = body_.room();
        }
        const auto n = std::min(piece.size(), room);
        body_.append(piece.substr(0, n));
        piece.remove_prefix(n);
        rest -= std::min<std::uint64_t>(rest, n);
    }
    return BodyWriter::Room::made;
}

/// The same, and waits for the readers to make room.
asio::awaitable<FetchError> FillWriter::append(std::string_view piece, std::uint64_t& rest) {
    for (;;) {
        switch (append_now(piece, rest)) {
            case BodyWriter::Room::made:
                co_return FetchError::none;
            case BodyWriter::Room::unwanted:
                co_return FetchError::abandoned;
            case BodyWriter::Room::after_readers:
                took_.at_the_senders_pace = false;
                co_await wakeup_.wait_until(Clock::now() + config_.timeouts.body_idle);
                break;
        }
    }
}

std::optional<std::uint64_t> FillWriter::missing(const Exchange& exchange) const {
    const auto length = exchange.content_length();
    if (!length) return std::nullopt;
    return *length - std::min(*length, took_.bytes);
}

}  // namespace proxy
