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

/// A connection to a peer: moves bytes between a socket and one end of a link, which decides. One
/// reader and one writer coroutine, both inside run(). Control thread only; must outlive the calls
/// it is in.
///
/// There are as many links as there are nodes, each way, and most of the time they only beat: so a
/// beat, as each message of the hello, costs one timer, the writer's, that also watches over
/// silence, and no waiting for a socket that has room.
class Link final : private LinkEnd::Driver {
public:
    explicit Link(boost::asio::ip::tcp::socket socket);
    ~Link();

    /// The peer's address and port, for logs.
    std::string remote() const;
    boost::asio::ip::address remote_address() const { return remote_.address(); }

    /// Carries messages until something ends the link, and says what. Ends by itself with
    /// peer_not_reading after `gone_after` without progress, else when the end says so.
    /// `settled` is called after each step of the end, for what follows from it elsewhere.
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
    boost::asio::ip::tcp::endpoint remote_;  // port 0: not known
    LinkEnd* end_ = nullptr;                 // while it runs
    std::function<void()> settled_;
    FrameBuffer input_;
    Bytes output_;
    std::optional<Sealer> sealer_;
    std::optional<Opener> opener_;
};

}  // namespace protocol
