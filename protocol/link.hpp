#pragma once

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "protocol/deadline.hpp"
#include "protocol/frame.hpp"
#include "protocol/message.hpp"

namespace protocol {

/// What one end of a link has to say and does with what it hears. The link turns the crank.
class LinkEnd {
public:
    virtual ~LinkEnd() = default;
    /// An error ends the link.
    virtual Result<void> on_message(const Message& message, Clock::time_point now) = 0;
    /// What to send now, if anything. Payloads stay good until the next call.
    virtual std::optional<Message> next(Clock::time_point now) = 0;
    /// When next() will have something again: asked after each message, and next() at once if that
    /// is due already. wake() if it becomes sooner at another time.
    virtual Clock::time_point due() const = 0;
    /// When the peer was last heard on another connection: it is as alive as if it had spoken here.
    virtual Clock::time_point heard_elsewhere() const { return Clock::time_point::min(); }
    /// How long the peer may say nothing before it is gone; more than `gone_after` if it has
    /// promised less.
    virtual Clock::duration silence_limit(Clock::duration gone_after) const { return gone_after; }
    /// Everything is said: the link ends when it is written.
    virtual bool finished() const = 0;
};

struct Traffic {
    std::uint64_t bytes_sent = 0, bytes_received = 0;
};

/// A connection to a peer: first hello messages, then, once it has its secrets, tagged ones. One
/// reader and one writer coroutine, both inside run(). Control thread only; must outlive the calls
/// it is in.
class Link {
public:
    /// Counts into `traffic`, which must outlive it.
    Link(boost::asio::ip::tcp::socket socket, Traffic& traffic);
    /// From now on into this one, once it is known who the peer is.
    void count_into(Traffic& traffic) { traffic_ = &traffic; }

    /// The peer's address and port, for logs.
    std::string remote() const;
    boost::asio::ip::address remote_address() const { return remote_.address(); }

    awaitable<Result<HelloMessage>> read_hello(Clock::time_point deadline);
    awaitable<Result<void>> write_hello(HelloMessage message, Clock::time_point deadline);

    /// From here on frames are tagged.
    void secure(const LinkKey& sending, const LinkKey& receiving);

    /// The publisher's last step of the hello: a Welcome, or a Refusal, which is an error.
    awaitable<Result<void>> read_welcome(Clock::time_point deadline);
    /// Goes out with the first that run() has to say.
    void write_welcome();

    /// Carries messages until something ends the link, and says what. Ends by itself with
    /// peer_not_reading after `gone_after` without progress, with peer_silent after the end's
    /// silence_limit(). There are as many links
    /// as there are nodes, each way, and most of the time they only beat: so a beat costs one
    /// timer, the writer's, that also watches over silence, and no waiting for a socket that has
    /// room.
    awaitable<boost::system::error_code> run(LinkEnd& end, Clock::duration gone_after);

    /// `end` may have something to send earlier than it said.
    void wake() { wake_.cancel(); }
    /// Ends run() with this reason.
    void close(Error reason);

    /// When the last authentic frame came.
    Clock::time_point heard_at() const { return heard_at_; }

private:
    awaitable<Result<ByteView>> read_frame(std::size_t max_bytes, Clock::time_point deadline,
                                           Error late);
    awaitable<Result<std::size_t>> receive(std::span<std::byte> room, Clock::time_point deadline,
                                           Error late);
    awaitable<Result<void>> write(Clock::time_point deadline, Error late);
    awaitable<Result<void>> flush(const LinkEnd& end, Clock::duration gone_after);
    Clock::time_point silent_at(const LinkEnd& end, Clock::duration gone_after) const {
        return std::max(heard_at_, end.heard_elsewhere()) + end.silence_limit(gone_after);
    }
    Result<std::size_t> write_what_goes(std::size_t from);
    awaitable<boost::system::error_code> read_loop(LinkEnd& end);
    awaitable<boost::system::error_code> write_loop(LinkEnd& end, Clock::duration gone_after);
    void fill_output(LinkEnd& end);

    boost::asio::ip::tcp::socket socket_;
    boost::asio::steady_timer wake_;
    Traffic* traffic_;
    boost::asio::ip::tcp::endpoint remote_;  // port 0: not known
    FrameBuffer input_;
    Bytes output_;
    std::optional<Sealer> sealer_;
    std::optional<Opener> opener_;
    std::optional<Error> closed_because_;
    Clock::time_point heard_at_;
};

}  // namespace protocol
