#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/timer_wheel.hpp"
#include "proxy/http/field_block.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/request/tunnel_side.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// Passes bytes between two connections until both sides have ended, one was reset, or none came
/// for `timeouts.tunnel_idle`. The end of one direction is passed on as such. After the end of a
/// connection inside this node, and of its bytes, the client has two seconds to end, too. Each
/// direction holds
/// 64 KiB at most, charged to limits.body_windows, and reads as much as the other side takes. One
/// thread; several coroutines, which all end before run() does. ClientService and sockets outlive
/// it.
class Tunnel final : base::TimerWheel::Timer {
public:
    /// The other end: an origin, whose bytes are counted, or a connection inside this node.
    enum class Leads : bool { to_origin, inside };

    /// `bytes_down` grows by the bytes that the client is sent. `share`: limits of these; null
    /// without one.
    Tunnel(ClientService& service, TunnelSide& client, TunnelSide& upstream,
           std::uint64_t& bytes_down, ClientShare* share = nullptr, Leads leads = Leads::to_origin)
        : service_(service),
          client_(client),
          upstream_(upstream),
          bytes_down_(bytes_down),
          leads_(leads),
          share_(share && share->has_bandwidth() ? share : nullptr),
          held_(share_ ? std::make_shared<base::Wakeup>(service.executor) : nullptr) {}

    enum class End : std::uint8_t { clean, idle, cancelled, client_reset, upstream_reset };

    /// `early_up`, `early_down`: bytes that came behind the heads.
    boost::asio::awaitable<End> run(std::string early_up, std::string early_down);

    /// The connection inside has ended: nobody takes the client's bytes any more.
    void inside_is_over();

private:
    using Step = TunnelSide::Step;
    enum class TransferResult : std::uint8_t { some, end, from_broke, to_broke };

    void still_alive();
    void expire() override { finish(lingers() ? End::clean : End::idle); }
    /// Nothing is left but the client's end.
    bool lingers() const { return inside_over_ && down_ended_; }
    void linger_at_the_end();
    void finish(End how);
    void was_reset(const TunnelSide& side);
    boost::asio::awaitable<bool> wait_for(TunnelSide& side, Step step);
    boost::asio::awaitable<bool> wait_for_bandwidth();
    boost::asio::awaitable<void> copy(TunnelSide& from, TunnelSide& to, std::string unsent);
    TransferResult move_some(TunnelSide& from, TunnelSide& to, std::string& unsent,
                             std::size_t at_most, Step& wanted);
    boost::asio::awaitable<void> watch(TunnelSide& side);
    void pass_end(const TunnelSide& from, TunnelSide& to);
    void passed_on(const TunnelSide& to, std::size_t bytes);

    ClientService& service_;
    TunnelSide& client_;
    TunnelSide& upstream_;
    std::optional<End> end_;
    unsigned ended_ = 0;  // directions
    bool inside_over_ = false, down_ended_ = false;
    std::uint64_t& bytes_down_;
    const Leads leads_;
    ClientShare* const share_;  // null: the client's bandwidth has no limit
    const std::shared_ptr<base::Wakeup>
        held_;  // of the direction to the client; null without share_
};

/// Opens the tunnel with `status` and the `fields` of an origin, and makes a tunnel of client and
/// upstream, from the bytes that both have sent already until the end. A reset is passed on as a
/// reset.
boost::asio::awaitable<void> run_tunnel(Transaction& transaction, UpstreamConnection& upstream,
                                        unsigned status, FieldBlock fields);

}  // namespace proxy
