#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string>
#include <string_view>

namespace proxy::test {

/// Runs due handlers until `holds`, for 5 seconds at most.
template <class Condition>
void run_until(boost::asio::io_context& io, const Condition& holds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    auto held = holds();
    while (!held && std::chrono::steady_clock::now() < deadline) {
        io.restart();
        io.run_one_for(std::chrono::milliseconds(10));
        held = holds();
    }
    EXPECT_TRUE(held);
}

/// Two ends of one TCP connection over the loopback interface.
struct Loopback {
    using tcp = boost::asio::ip::tcp;

    explicit Loopback(boost::asio::io_context& io) : near(io), far(io) {
        tcp::acceptor acceptor(io, {boost::asio::ip::make_address("127.0.0.1"), 0});
        far.connect(acceptor.local_endpoint());
        acceptor.accept(near);
        far.non_blocking(true);
    }

    /// The bytes that have come to the far end.
    std::string read_far() {
        std::string all;
        char piece[4096];
        boost::system::error_code ec;
        while (const auto n = far.read_some(boost::asio::buffer(piece), ec)) all.append(piece, n);
        far_has_ended = ec == boost::asio::error::eof;
        return all;
    }
    /// Runs `io` until these bytes have come to the far end.
    void expect_far(boost::asio::io_context& io, std::string_view bytes) {
        std::string all;
        run_until(io, [&] {
            all += read_far();
            return all == bytes;
        });
        EXPECT_EQ(all, bytes);
    }
    void write_far(std::string_view bytes) { boost::asio::write(far, boost::asio::buffer(bytes)); }

    tcp::socket near, far;
    bool far_has_ended = false;  // by the last read_far()
};

}  // namespace proxy::test
