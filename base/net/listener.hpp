#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/async/error.hpp"

namespace base {

/// The pause after accept() failed, and while `room` is false.
inline constexpr std::chrono::milliseconds kAcceptPause{50};
/// Connections taken in one turn of the event loop. One by one, each would wait behind all other
/// ready handlers.
inline constexpr std::size_t kAcceptsAtOnce = 64;
/// When connections come alone, one turn in so many looks for a second one. A look in vain costs
/// the kernel a socket that it makes and throws away. After the look that finds one, each turn
/// takes all that wait.
inline constexpr unsigned kLookForSecond = 8;

/// A listening socket, and the loop that accepts its connections. When the process runs out of
/// descriptors, the listener uses a reserved one to close the waiting connections, instead of
/// leaving them to hang. One thread, that of the executor; outlives run().
class Listener {
public:
    using Socket = boost::asio::ip::tcp::socket;
    using Endpoint = boost::asio::ip::tcp::endpoint;
    using Take = std::function<void(Socket&&, const Endpoint& from)>;
    struct Hooks {
        /// A new connection, to be moved away, and its other end. It sends small segments at once
        /// (TCP_NODELAY, of listen() and listen_shared()). The hook may close the listener.
        Take take;
        /// Accepting pauses: the reason, and the number of connections closed unserved.
        std::function<void(boost::system::error_code, std::size_t refused)> trouble = {};
        /// Whether another connection may be taken; otherwise it waits in the kernel. Empty:
        /// always.
        std::function<bool()> room = {};
    };

    explicit Listener(boost::asio::any_io_executor executor);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Takes over a listening descriptor, and owns it from now on.
    void assign(int descriptor);
    /// Listens at this endpoint. Errors are the system's.
    boost::system::error_code listen(const boost::asio::ip::tcp::endpoint& at);
    /// Gives the descriptor away, so that its new owner goes on listening.
    int release();

    /// Accepts connections until close(), or until the coroutine is cancelled.
    boost::asio::awaitable<void> run(Hooks hooks);
    /// Takes the connections that the kernel has accepted, stops others and closes. A connection
    /// between the last accept() and a plain close() would be reset. One that `take` throws on is
    /// closed.
    void drain(const Take& take);
    void close();

    bool is_open() const { return acceptor_.is_open(); }
    std::uint16_t port() const;  // 0: closed

private:
    Socket accept(Endpoint& from, boost::system::error_code& error);
    boost::system::error_code take_waiting(const Hooks& hooks);
    std::size_t refuse_waiting();

    boost::asio::ip::tcp::acceptor acceptor_;
    int spare_ = -1;
    bool come_together_ = false;  // the last turn took more than one
    unsigned turns_ = 0;
};

}  // namespace base
