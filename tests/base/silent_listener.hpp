#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace base::test {

/// An address from which no answer to a connection attempt comes: its queue is full, and the kernel
/// drops further attempts.
class SilentListener {
public:
    SilentListener(boost::asio::io_context& io, const std::string& address, std::uint16_t port = 0)
        : listener_(io), filler_(io) {
        const boost::asio::ip::tcp::endpoint at(boost::asio::ip::make_address(address), port);
        listener_.open(at.protocol());
        listener_.set_option(boost::asio::socket_base::reuse_address(true));
        listener_.bind(at);
        listener_.listen(0);
        filler_.connect(listener_.local_endpoint());
    }
    boost::asio::ip::tcp::endpoint endpoint() const { return listener_.local_endpoint(); }
    /// From here on connections are taken (an attempt that began before comes through when its
    /// first packet is sent again).
    void speak() {
        listener_.listen(16);
        listener_.accept();
    }

private:
    boost::asio::ip::tcp::acceptor listener_;
    boost::asio::ip::tcp::socket filler_;
};

}  // namespace base::test
