#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <list>

#include "protocol/net/listener.hpp"
#include "protocol/net/task_group.hpp"
#include "proxy/client/admitted.hpp"
#include "proxy/client/entrance.hpp"
#include "proxy/client/frontend.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"

namespace proxy {

/// One worker's listening sockets, and the connections that came by them. One thread.
class Acceptor {
public:
    /// Both must outlive this.
    Acceptor(Frontend& frontend, boost::asio::io_context& io);
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    /// A listening socket, which belongs to this from here on. Before start().
    void listen(int acceptor_fd, Scheme scheme);
    /// Of the first one.
    std::uint16_t port() const { return places_.front().listener.port(); }
    void start();
    /// Takes what is in the accept queue, then accepts no more; connections end after their present
    /// request.
    void drain();
    /// Until all connections have ended, after drain().
    boost::asio::awaitable<void> wait() { return tasks_.wait(); }
    /// Cancels everything.
    void stop();

private:
    struct Place {
        Place(boost::asio::any_io_executor executor, Scheme of_it)
            : listener(std::move(executor)), scheme(of_it) {}

        protocol::Listener listener;
        Scheme scheme;
    };
    void admit(boost::asio::ip::tcp::socket socket, Scheme scheme);
    bool let_in(Admitted& client);
    bool let_in_stranger(Admitted& client);
    bool make_room(Entrance entrance, const Crowd& crowd, const Admitted& client);
    bool is_peer(const boost::asio::ip::address& address) const;
    void show_out(Admitted client);
    void note_refused(std::size_t count);

    Frontend& frontend_;
    boost::asio::io_context& io_;
    protocol::TaskGroup tasks_;  // connections; takes no new ones while draining
    std::list<Place> places_;
    RateLimitedLog shown_out_;  // who may not ask
};

}  // namespace proxy
