#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "protocol/net/error.hpp"

namespace protocol {

/// After accept() failed, or while nobody is let in: so long nothing is tried.
inline constexpr std::chrono::milliseconds kAcceptPause{50};
/// Taken each time there is somebody: one by one, each would wait behind all that is ready
/// elsewhere in the event loop.
inline constexpr std::size_t kAcceptsAtOnce = 64;

/// A listening socket, and the loop that takes its connections. When the process has no descriptor
/// left, those who wait are closed at once instead of being left to hang, with one that is kept
/// back for this. One thread, that of the executor; outlives run().
class Listener {
public:
    using Socket = boost::asio::ip::tcp::socket;
    struct Hooks {
        /// One that has come. It may close this.
        std::function<void(Socket)> take;
        /// Nobody is taken for a moment: why, and how many were closed unserved.
        std::function<void(boost::system::error_code, std::size_t refused)> trouble = {};
        /// May another be taken? Who may not waits in the kernel. Empty: always.
        std::function<bool()> room = {};
    };

    explicit Listener(boost::asio::any_io_executor executor);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// A socket that listens already; the descriptor is owned from here on.
    void assign(int descriptor);
    /// Listens there. Errors are the system's.
    boost::system::error_code listen(const boost::asio::ip::tcp::endpoint& at);
    /// Gives the descriptor to somebody else, who goes on where this stops.
    int release();

    /// Takes connections until this is closed or the coroutine is cancelled.
    boost::asio::awaitable<void> run(Hooks hooks);
    /// Takes whom the kernel has accepted already, lets nobody else in and closes. Between the last
    /// accept() and a plain close() one more would be reset.
    void drain(const std::function<void(Socket)>& take);
    void close();

    bool is_open() const { return acceptor_.is_open(); }
    std::uint16_t port() const;  // 0: not open

private:
    std::size_t refuse_waiting();

    boost::asio::ip::tcp::acceptor acceptor_;
    int spare_ = -1;
};

}  // namespace protocol
