#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/wire/codec.hpp"

namespace protocol::test {

using Frames = std::vector<Bytes>;

/// Stands between a dialling and a listening node and passes frames on, or the changes that a test
/// makes of them. One event loop.
class Relay {
public:
    /// A whole frame with its length prefix -> the bytes to pass on in its place.
    using Mangle = std::function<Frames(Bytes frame)>;

    Relay(boost::asio::io_context& io, const std::string& listen, const std::string& target);
    ~Relay();

    Mangle from_dialler = [](Bytes frame) { return Frames{std::move(frame)}; };
    Mangle from_listener = from_dialler;
    bool deaf = false;  // reads nothing more from the dialler

    /// Breaks all connections.
    void cut();
    /// Breaks them on the dialler's side alone; the listener gets no notice and no bytes
    /// more.
    void lose_diallers();
    /// The other way round: the dialler still believes in its connection.
    void lose_listeners();
    std::size_t connections() const;

private:
    struct Pair;
    enum class Keep { nothing, dialler, listener };
    void break_all(Keep keep);
    boost::asio::awaitable<void> accept();
    boost::asio::awaitable<void> carry(std::shared_ptr<Pair> pair);
    boost::asio::awaitable<void> pump(std::shared_ptr<Pair> pair, bool forth);

    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::ip::tcp::endpoint target_;
    std::vector<std::weak_ptr<Pair>> pairs_;
};

/// Flips one bit of byte `index`.
Bytes flipped(Bytes frame, std::size_t index);
std::uint8_t type_of_frame(const Bytes& frame);

}  // namespace protocol::test
