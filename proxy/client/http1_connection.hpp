#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string_view>

#include "proxy/client/client_connection.hpp"
#include "proxy/client/http1_request_reader.hpp"
#include "proxy/client/http1_tunnel.hpp"
#include "proxy/client/http1_writer.hpp"
#include "proxy/request/accepted_connection.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/request/intercepted_connect.hpp"
#include "proxy/request/request.hpp"
#include "proxy/request/request_stats.hpp"
#include "proxy/request/request_steps.hpp"
#include "proxy/request/transaction.hpp"

namespace proxy {

/// One HTTP/1.1 connection of a client, from the PROXY header and the TLS handshake to its end, or
/// to the moment when the client turns out to speak HTTP/2. It serves requests one after the other,
/// pipelined ones in order, and responds by itself to bytes that are no request. Request, writer
/// and statistics live as long as the connection and are reused. The service outlives this. One
/// thread, one coroutine. A fault in the code that serves a request ends that request alone, with a
/// 500 if nothing was sent.
class Http1Connection {
public:
    Http1Connection(ClientService& service, ClientConnection& connection);
    Http1Connection(const Http1Connection&) = delete;
    Http1Connection& operator=(const Http1Connection&) = delete;

    /// True when the client speaks HTTP/2, and its connection goes on. head_bytes() and input() of
    /// the connection have its first bytes then.
    boost::asio::awaitable<bool> run();

private:
    boost::asio::awaitable<bool> establish();
    boost::asio::awaitable<bool> read_proxy_header();
    void note_proxy_header(std::string_view what);
    boost::asio::awaitable<bool> go_on_intercepted(std::unique_ptr<InterceptedConnect> inside);
    boost::asio::awaitable<bool> secure();
    boost::asio::awaitable<void> refuse_plain_http();
    bool serve_at_once();
    boost::asio::awaitable<void> serve();
    boost::asio::awaitable<void> refuse_unparsed(ClientConnection::ReadResult received,
                                                 ParseError error);
    bool closes_at_once();
    boost::asio::awaitable<void> end();

    bool is_http2(ParseError error) const;
    bool is_encrypted_peer(ClientConnection::ReadResult received) const;
    void begin_request();
    void show_line(std::string_view bytes);
    void rest();

    ClientService& service_;
    ClientConnection& connection_;
    Request request_;
    Http1RequestReader reader_;
    Http1Writer writer_;
    RequestStats stats_;
    Http1Tunnel tunnel_;
    Transaction transaction_;
    RequestSteps steps_;
    bool only_for_peers_ = false;  // a trusted proxy's PROXY header is missing
};

/// Serves one client connection until it ends. It counts as one of the service from this call on.
boost::asio::awaitable<void> serve_client(ClientService& service, AcceptedConnection&& client);
/// The same for a connection of its own inside a CONNECT.
boost::asio::awaitable<void> serve_intercepted(ClientService& service, AcceptedConnection client,
                                               std::unique_ptr<InterceptedConnect> inside);

}  // namespace proxy
