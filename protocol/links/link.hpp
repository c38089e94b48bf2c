#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>

#include "protocol/links/link_end.hpp"
#include "protocol/net/deadline.hpp"
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
    explicit Link(boost::asio::ip::tcp::socket socket);
    ~Link();

    /// The peer's address and port, for logs.
    std::string remote() const;
    boost::asio::ip::address remote_address() const { return remote_.address(); }

    /// Carries messages until the link ends, and returns the reason. It ends with peer_not_reading
    /// after `gone_after` without progress, and otherwise by decision of `end`. Calls `settled`
    /// after each step of `end`, so that other parts can follow.
    awaitable<boost::system::error_code> run(LinkEnd& end, Clock::duration gone_after,
                                             std::function<void()> settled);

private:
    void woken() override;
    awaitable<boost::system::error_code> read_loop(LinkEnd& end);
    awaitable<boost::system::error_code> write_loop(LinkEnd& end, Clock::duration gone_after);
    awaitable<Result<void>> flush(const LinkEnd& end, Clock::duration gone_after);
    Result<std::size_t> write_what_goes(std::size_t from);
    Result<void> hand_in(LinkEnd& end, ByteView frame);
    void fill_output(LinkEnd& end);
    void secure(const LinkEnd& end);

    boost::asio::ip::tcp::socket socket_;
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
