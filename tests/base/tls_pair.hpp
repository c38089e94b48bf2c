#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <optional>

#include "base/tls/tls_session.hpp"

namespace base::test {

/// Two connected sockets, and TLS between them.
struct TlsPair {
    using Step = TlsSession::Step;

    TlsPair(SSL_CTX& server, SSL_CTX& client) {
        boost::asio::ip::tcp::acceptor acceptor(io,
                                                {boost::asio::ip::make_address("127.0.0.1"), 0});
        dialled.connect(acceptor.local_endpoint());
        accepted = acceptor.accept();
        at_server.emplace(server, TlsSide::server, accepted);
        at_client.emplace(client, TlsSide::client, dialled);
    }
    /// Takes steps until neither side waits for the other any more.
    void shake_hands() {
        for (int round = 0; round < 1000; ++round) {
            client = at_client->handshake();
            server = at_server->handshake();
            if (!waits(client) && !waits(server)) return;
        }
        ADD_FAILURE() << "the handshake does not end";
    }
    bool agreed() const { return client == Step::done && server == Step::done; }

    boost::asio::io_context io;
    boost::asio::ip::tcp::socket dialled{io}, accepted{io};
    std::optional<TlsSession> at_server, at_client;
    Step client = Step::wait_read, server = Step::wait_read;
};

}  // namespace base::test
