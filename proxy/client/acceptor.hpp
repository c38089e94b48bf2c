#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <list>

#include "protocol/task_group.hpp"
#include "proxy/client/frontend.hpp"
#include "proxy/http/cache_key.hpp"

namespace proxy {

/// One worker's listening sockets, and the connections that came by them. One thread.
class Acceptor {
public:
    /// Both must outlive this.
    Acceptor(Frontend& frontend, boost::asio::io_context& io);
    ~Acceptor();
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    /// A listening socket, which belongs to this from here on. Before start().
    void listen(int acceptor_fd, Scheme scheme);
    /// Of the first one.
    std::uint16_t port() const { return listeners_.front().acceptor.local_endpoint().port(); }
    void start();
    /// Takes what is in the accept queue, then accepts no more; connections end after their present
    /// request.
    void drain();
    /// Until all connections have ended, after drain().
    boost::asio::awaitable<void> wait() { return tasks_.wait(); }
    /// Cancels everything.
    void stop();

private:
    struct Listener {
        boost::asio::ip::tcp::acceptor acceptor;
        Scheme scheme;
    };
    boost::asio::awaitable<void> accept_loop(Listener& listener);
    void admit(boost::asio::ip::tcp::socket socket, Scheme scheme);
    void refuse_waiting(boost::asio::ip::tcp::acceptor& acceptor);

    Frontend& frontend_;
    boost::asio::io_context& io_;
    protocol::TaskGroup tasks_;  // connections; takes no new ones while draining
    std::list<Listener> listeners_;
    int spare_ = -1;  // a descriptor to refuse connections with when no other is left
};

}  // namespace proxy
