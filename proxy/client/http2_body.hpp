#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/pace.hpp"
#include "base/async/wakeup.hpp"
#include "base/memory/memory.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

class ClientService;

/// The body of one HTTP/2 request: the bytes of its DATA frames that the request's code has not
/// taken yet, and those that the code works on. The stream's flow-control window bounds both. More
/// than kHttp2FreeBytes are charged to limits.body_windows, and a stream that finds no room there
/// is refused. One thread; service and session outlive this.
class Http2Body final : public RequestBody {
public:
    /// The flow control of the session, which the body opens again as its bytes are taken.
    class Windows {
    public:
        virtual ~Windows() = default;
        /// The client may send so many bytes more on the stream.
        virtual void taken(std::int32_t stream, std::size_t bytes) = 0;
        /// The client may have so many bytes of the stream on their way.
        virtual void widen(std::int32_t stream, std::size_t bytes) = 0;
        /// There is no memory for the stream.
        virtual void refuse(std::int32_t stream) = 0;
    };

    Http2Body(ClientService& service, Windows& windows, std::shared_ptr<base::Wakeup> wakeup)
        : service_(service), windows_(windows), wakeup_(std::move(wakeup)) {}

    /// Begins with the request of `stream`. `length`: as its head states it. `ended`: the head was
    /// all of it.
    void begin(std::int32_t stream, std::optional<std::uint64_t> length, bool ended);
    /// Takes the next bytes off the connection.
    void put(std::string_view bytes);
    /// No bytes follow.
    void end();
    /// The stream is over. The caller wakes a coroutine that waits.
    void close();
    /// Nobody takes the bytes that have come or will come: they are dropped.
    void drop();
    /// Bytes may follow, and drop() was not called.
    bool is_open() const { return !is_whole() && !closed_ && !dropping_; }
    bool is_tunnel() const { return extent_ == Extent::tunnel; }
    std::int64_t received_bytes() const { return received_; }
    /// Nobody takes bytes any more. Their room is free again.
    void finish();

    /// The bytes belong to a tunnel, and the request has no body. Until the next begin().
    void become_tunnel() { extent_ = Extent::tunnel; }
    /// Takes bytes for a tunnel, without a wait.
    std::size_t read(boost::asio::mutable_buffer into);
    bool has_ended() const { return is_whole() && come_.empty(); }
    base::Wakeup& wakeup() { return *wakeup_; }

    bool done() const override { return is_tunnel() || has_ended(); }
    std::optional<std::uint64_t> length() const override {
        return is_tunnel() ? std::nullopt : length_;
    }
    bool has_open_length() const override { return extent_ == Extent::open; }
    bool has_come() const override { return !come_.empty(); }
    bool take(std::vector<std::string_view>& pieces) override;
    ParseError error() const override { return ParseError::ok; }
    boost::asio::awaitable<bool> receive_more() override;
    void interrupt() override;

    std::size_t kept_bytes() const { return come_.capacity() + given_.capacity(); }
    void give_back();

private:
    enum class Extent : std::uint8_t {
        stated,  // a length, or no body
        open,    // a body without a stated length
        tunnel,
    };
    enum class Arrival : std::uint8_t {
        under_way,
        whole,    // nothing comes any more
        refused,  // there was no room, and what came is dropped
    };
    enum class Wait : std::uint8_t {
        none,
        waiting,      // receive_more() does
        interrupted,  // and has to end
    };

    bool is_whole() const { return arrival_ == Arrival::whole; }
    std::size_t held() const { return come_.size() + given_.size(); }
    void widen();
    bool find_room();
    void refuse();
    void let_go();

    ClientService& service_;
    Windows& windows_;
    std::shared_ptr<base::Wakeup> wakeup_;
    std::int32_t stream_ = 0;
    std::optional<std::uint64_t> length_;
    Extent extent_ = Extent::stated;
    Arrival arrival_ = Arrival::whole;
    Wait wait_ = Wait::none;
    bool closed_ = true;  // the stream is over
    bool dropping_ = false;
    std::string come_;   // not taken yet
    std::string given_;  // what take() has given
    base::Charge room_;  // for more than kHttp2FreeBytes
    base::Pace giving_;
    std::int64_t received_ = 0;
};

}  // namespace proxy
