#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <list>

#include "base/async/task_group.hpp"
#include "base/net/listener.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/request/accepted_connection.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/request/connection_verdict.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"

namespace proxy {

/// The listening sockets of one worker, and the connections that came through them. It judges a new
/// connection by its address and by the other connections (connection_verdict.hpp). One thread.
class Acceptor {
public:
    /// ClientService and context outlive this.
    Acceptor(ClientService& service, boost::asio::io_context& io);
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    /// Takes over a listening socket. Called before start().
    void listen(int acceptor_fd, Scheme scheme);
    /// The port of the first socket.
    std::uint16_t port() const { return doors_.front().listener.port(); }
    void start();
    /// Takes the connections in the accept queue, then accepts no more. Connections end after their
    /// present request.
    void drain();
    /// Waits, after drain(), until all connections have ended.
    boost::asio::awaitable<void> wait() { return tasks_.wait(); }
    /// Cancels everything.
    void stop();

private:
    struct ListeningSocket {
        ListeningSocket(boost::asio::any_io_executor executor, Scheme of_it)
            : listener(std::move(executor)), scheme(of_it) {}

        base::Listener listener;
        Scheme scheme;
    };
    void take(boost::asio::ip::tcp::socket&& socket, const boost::asio::ip::tcp::endpoint& from,
              Scheme scheme);
    void admit(boost::asio::ip::tcp::socket&& socket, const boost::asio::ip::tcp::endpoint& from,
               Scheme scheme);
    bool let_in(AcceptedConnection& client);
    bool let_in_stranger(AcceptedConnection& client);
    bool make_room(ConnectionVerdict verdict, const ConnectionLoad& load,
                   const AcceptedConnection& client);
    bool is_peer(const boost::asio::ip::address& address) const;
    void show_out(AcceptedConnection client);
    void note_refused(std::size_t count);

    ClientService& service_;
    boost::asio::io_context& io_;
    base::TaskGroup tasks_;  // connections; takes no new ones while draining
    std::list<ListeningSocket> doors_;
    RateLimitedLog shown_out_;  // clients that may not ask
};

}  // namespace proxy
