#include "measure/origin/origin.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <list>
#include <span>
#include <thread>
#include <vector>

#include "base/async/deadline.hpp"
#include "base/memory/read_buffer.hpp"
#include "base/net/listener.hpp"
#include "measure/origin/origin_request.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/request/error_response.hpp"

namespace measure {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::as_result;
using base::awaitable;
using proxy::ParseError;

constexpr std::size_t kInputBytes = 64 * 1024 + 4096;  // a head at its limit, and some more
constexpr std::size_t kLeastRead = 1024;
constexpr std::size_t kPiecesAtOnce = 8;

struct Counters {
    std::atomic<std::uint64_t> requests{0}, body_bytes{0};
    std::atomic<std::size_t> connections{0};
};

/// One client's connection, request after request.
class Connection {
public:
    Connection(tcp::socket socket, Counters& counters)
        : socket_(std::move(socket)), counters_(counters) {
        boost::system::error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
    }
    ~Connection() { --counters_.connections; }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    awaitable<void> run() {
        for (bool open = true; open;) {
            open = co_await serve_one();
        }
        boost::system::error_code ignored;
        socket_.shutdown(tcp::socket::shutdown_both, ignored);
    }

private:
    /// Returns false at the end of the connection.
    awaitable<bool> serve_one() {
        std::size_t scanned = 0, head_bytes = 0;
        while ((head_bytes = proxy::find_head_end(input_.data(), scanned)) == 0) {
            if (!has_room()) {
                answer_error(431, "the head is too large", false, proxy::wall_now(), answer_);
                co_await send();
                co_return false;
            }
            const bool more = co_await read_more();
            if (!more) co_return false;
        }
        proxy::RequestParser parser(head_, limits_);
        const auto error = parser.parse_head(input_.data().substr(0, head_bytes));
        if (error != ParseError::ok) {
            answer_error(status_of(error), proxy::to_string(error), false, proxy::wall_now(),
                         answer_);
            co_await send();
            co_return false;
        }
        answer_origin_request(head_, parser.keep_alive(), proxy::wall_now(), key_, answer_);
        const bool expects = head_.get(boost::beast::http::field::expect).has_value();
        input_.consume(head_bytes);  // the head's views end here
        if (!parser.is_done()) {
            if (expects) {
                constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
                const auto [write_error, n] =
                    co_await asio::async_write(socket_, asio::buffer(kContinue), as_result);
                if (write_error) co_return false;
            }
            const bool drained = co_await drain(parser);
            if (!drained) co_return false;
        }
        ++counters_.requests;
        if (answer_.delay.count() > 0) {
            asio::steady_timer timer(socket_.get_executor(), answer_.delay);
            co_await timer.async_wait(as_result);
        }
        const bool sent = co_await send();
        co_return sent&& answer_.keep_alive;
    }

    /// The parser limits a head and the line of a chunk.
    bool has_room() const { return input_.size() < kInputBytes; }

    awaitable<bool> read_more() {
        const auto room = input_.prepare(kLeastRead);
        const auto [error, n] = co_await socket_.async_read_some(room, as_result);
        if (error) co_return false;
        input_.commit(n);
        co_return true;
    }

    /// Reads and drops the body of a request.
    awaitable<bool> drain(proxy::RequestParser& parser) {
        for (;;) {
            const auto used = parser.parse_body(input_.data(), [](std::string_view) {});
            if (!used) co_return false;
            input_.consume(*used);
            if (parser.is_done()) co_return true;
            if (!has_room()) co_return false;
            const bool more = co_await read_more();
            if (!more) co_return false;
        }
    }

    awaitable<bool> send() {
        std::array<asio::const_buffer, kPiecesAtOnce> pieces;
        pieces[0] = asio::buffer(answer_.head);
        std::size_t count = 1;
        std::uint64_t at = answer_.begin;
        const std::uint64_t end = answer_.body ? answer_.end : at;
        do {
            for (; count < kPiecesAtOnce && at < end; ++count) {
                const auto piece = answer_.body->piece(at).substr(0, end - at);
                pieces[count] = asio::buffer(piece.data(), piece.size());
                at += piece.size();
            }
            const std::span<const asio::const_buffer> some(pieces.data(), count);
            const auto [error, n] = co_await asio::async_write(socket_, some, as_result);
            if (error) co_return false;
            count = 0;
        } while (at < end);
        counters_.body_bytes += end - answer_.begin;
        co_return true;
    }

    tcp::socket socket_;
    Counters& counters_;
    base::ReadBuffer input_;
    proxy::Head head_;
    proxy::HeadLimits limits_;
    proxy::CacheKey key_;
    OriginAnswer answer_;
};

awaitable<void> serve(tcp::socket socket, Counters& counters) {
    Connection connection(std::move(socket), counters);
    co_await connection.run();
}

/// Distributes the connections accepted on one thread to all workers in turn.
base::Listener::Hooks deal(std::vector<asio::io_context*> workers, Counters& counters,
                           std::size_t max_connections) {
    base::Listener::Hooks hooks;
    hooks.room = [&counters, max_connections] { return counters.connections < max_connections; };
    hooks.take = [&counters, workers = std::move(workers), next = std::size_t{0}](
                     tcp::socket&& socket, const tcp::endpoint&) mutable {
        asio::io_context& worker = *workers[next++ % workers.size()];
        boost::system::error_code gone;
        const auto at = socket.local_endpoint(gone);
        if (gone) return;
        tcp::socket moved(worker, at.protocol(), socket.release());
        ++counters.connections;
        auto session = serve(std::move(moved), counters);
        asio::co_spawn(worker, std::move(session), asio::detached);
    };
    return hooks;
}

tcp::endpoint resolve(asio::io_context& context, const OriginOptions& options) {
    tcp::resolver resolver(context);
    return resolver
        .resolve(options.listen.host, std::to_string(options.listen.port), tcp::resolver::passive)
        .begin()
        ->endpoint();
}

}  // namespace

struct Origin::State {
    Counters counters;
    std::list<asio::io_context> contexts;
    std::unique_ptr<base::Listener> listener;
    std::uint16_t port = 0;
    std::vector<std::thread> threads;
};

Origin::Origin(const OriginOptions& options) : state_(std::make_unique<State>()) {
    State& s = *state_;
    std::vector<asio::io_context*> workers;
    for (unsigned i = 0; i < std::max(1u, options.workers); ++i) {
        workers.push_back(&s.contexts.emplace_back(1));
    }
    s.listener = std::make_unique<base::Listener>(workers[0]->get_executor());
    const auto error = s.listener->listen(resolve(*workers[0], options));
    if (error) throw boost::system::system_error(error);
    s.port = s.listener->port();
    auto accepting = s.listener->run(deal(workers, s.counters, options.max_connections));
    asio::co_spawn(*workers[0], std::move(accepting), asio::detached);
    for (auto* context : workers) {
        s.threads.emplace_back([context] {
            const auto work = asio::make_work_guard(*context);
            context->run();
        });
    }
}

Origin::~Origin() {
    for (auto& context : state_->contexts) context.stop();
    for (auto& thread : state_->threads) thread.join();
    // Connections end with their contexts. A connection of one context never touches another.
    state_->listener.reset();
    state_->contexts.clear();
}

std::uint16_t Origin::port() const {
    return state_->port;
}
std::uint64_t Origin::requests() const {
    return state_->counters.requests;
}
std::uint64_t Origin::body_bytes() const {
    return state_->counters.body_bytes;
}

}  // namespace measure
