#pragma once

#include <openssl/types.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/deadline.hpp"
#include "base/tls/new_tls_context.hpp"
#include "base/tls/tls_session.hpp"
#include "protocol/links/link_end.hpp"
#include "protocol/wire/frame.hpp"
#include "protocol/wire/message.hpp"

namespace protocol {

/// A connection to a peer. It moves bytes between a socket and a LinkEnd, which makes the
/// decisions. One reader and one writer coroutine run inside run(). Control thread only; must
/// outlive the calls that it is in.
///
/// A node has as many links in each direction as peers, and most links only carry heartbeats. So a
/// heartbeat, like a message of the hello, costs one timer (the writer's, which also watches for
/// silence), and writes to a socket with room at once.
class Link final : private LinkEnd::Driver {
public:
    /// A connection that this node has made. It begins with a TLS handshake in `context`, which
    /// outlives the link, unless that is null.
    static Link dialled(boost::asio::ip::tcp::socket socket, SSL_CTX* context) {
        return {std::move(socket), base::TlsSide::client, context};
    }
    /// A connection that another node has made. TLS in `context` if its first byte begins a
    /// handshake and `context` is there, else clear text.
    static Link accepted(boost::asio::ip::tcp::socket socket, SSL_CTX* context) {
        return {std::move(socket), base::TlsSide::server, context};
    }
    ~Link();

    /// The peer's address and port, for logs.
    std::string remote() const;
    boost::asio::ip::address remote_address() const { return remote_.address(); }

    /// Carries messages until the link ends, and returns the reason. It ends with peer_not_reading
    /// after `gone_after` without progress, with tls_failed or wrong_key after a handshake that
    /// bytes of the other side made fail, and otherwise by decision of `end`. Calls `settled` after
    /// each step of `end`, so that other parts can follow.
    base::awaitable<boost::system::error_code> run(LinkEnd& end, base::Clock::duration gone_after,
                                                   std::function<void()> settled);

private:
    Link(boost::asio::ip::tcp::socket socket, base::TlsSide side, SSL_CTX* context);

    void woken() override;
    base::awaitable<boost::system::error_code> begin(LinkEnd& end);
    base::awaitable<base::Result<char>> first_byte(LinkEnd& end);
    base::awaitable<boost::system::error_code> handshake(LinkEnd& end);
    base::awaitable<boost::system::error_code> wait(LinkEnd& end, base::TlsSession::Step step);
    base::awaitable<std::pair<boost::system::error_code, std::size_t>> read_some();
    base::awaitable<boost::system::error_code> read_loop(LinkEnd& end);
    base::awaitable<boost::system::error_code> write_loop(LinkEnd& end,
                                                          base::Clock::duration gone_after);
    base::awaitable<base::Result<void>> flush(const LinkEnd& end, base::Clock::duration gone_after);
    base::Result<std::size_t> write_what_goes(std::size_t from);
    base::Result<void> hand_in(LinkEnd& end, base::ByteView frame);
    void fill_output(LinkEnd& end);
    void secure(const LinkEnd& end);

    boost::asio::ip::tcp::socket socket_;
    const base::TlsSide side_;
    SSL_CTX* const context_;
    std::unique_ptr<base::TlsSession> tls_;  // null: in the clear
    boost::asio::steady_timer wake_;
    boost::asio::ip::tcp::endpoint remote_;  // port 0: unknown
    LinkEnd* end_ = nullptr;                 // while run() runs
    std::function<void()> settled_;
    FrameBuffer input_;
    Bytes output_;
    std::optional<Sealer> sealer_;
    std::optional<Opener> opener_;
};

}  // namespace protocol
