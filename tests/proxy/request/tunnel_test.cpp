#include "proxy/request/tunnel.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <optional>
#include <string>

#include "tests/proxy/fetch/idle_cache.hpp"
#include "tests/proxy/loopback.hpp"

namespace proxy {
namespace tunnel_test {

/// A tunnel between two connections, whose far ends the test holds.
class TunnelTest : public ::testing::Test, protected test::IdleCache {
protected:
    void begin(std::string early_up = {}, std::string early_down = {}) {
        for (auto* socket : {&client.near, &upstream.near}) socket->non_blocking(true);
        boost::asio::co_spawn(io, tunnel.run(std::move(early_up), std::move(early_down)),
                              [this](std::exception_ptr, Tunnel::End how) { end = how; });
    }

    test::Loopback client{io}, upstream{io};
    SharedClientState shared_clients{*settings, events};
    ClientService service{shared_clients, cache, in_effect};
    std::uint64_t bytes_down = 0;
    SocketSide client_side{client.near, nullptr}, upstream_side{upstream.near, nullptr};
    Tunnel tunnel{service, client_side, upstream_side, bytes_down};
    std::optional<Tunnel::End> end;
};

TEST_F(TunnelTest, PassesBytesBothWaysAndTheEndOfEach) {
    begin("early up ", "early down ");
    client.write_far("up");
    upstream.write_far("down");
    upstream.expect_far(io, "early up up");
    client.expect_far(io, "early down down");
    EXPECT_EQ(bytes_down, 15u);
    client.far.shutdown(boost::asio::ip::tcp::socket::shutdown_send);
    test::run_until(io, [this] { return upstream.read_far().empty() && upstream.far_has_ended; });
    EXPECT_FALSE(end.has_value()) << "the other direction goes on";
    upstream.write_far("more");
    upstream.far.shutdown(boost::asio::ip::tcp::socket::shutdown_send);
    client.expect_far(io, "more");
    test::run_until(io, [this] { return end == Tunnel::End::clean; });
}

TEST_F(TunnelTest, EndsWhenASideIsReset) {
    begin();
    upstream.far.set_option(boost::asio::socket_base::linger(true, 0));
    upstream.far.close();
    test::run_until(io, [this] { return end == Tunnel::End::upstream_reset; });
}

}  // namespace tunnel_test
}  // namespace proxy
