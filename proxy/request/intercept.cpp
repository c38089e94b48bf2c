#include "proxy/request/intercept.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/access/client_share.hpp"
#include "proxy/access/password_file.hpp"
#include "proxy/request/accepted_connection.hpp"
#include "proxy/request/connection_verdict.hpp"
#include "proxy/request/intercepted_connect.hpp"
#include "proxy/request/tunnel.hpp"
#include "proxy/request/tunnel_side.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// The facts that hold inside, as they are at the CONNECT.
std::unique_ptr<InterceptedConnect> intercepted_connect(const Request& request,
                                                        const WatchedFiles& files, std::string name,
                                                        std::uint16_t port) {
    auto inside = std::make_unique<InterceptedConnect>();
    inside->name = std::move(name);
    inside->port = port;
    inside->client = request.requester.address();
    inside->interception = files.tls->interception;
    if (!request.share || !request.share->proven_by) return inside;
    inside->user = request.share->user;
    if (const auto* hash = request.share->proven_by->hash_of(inside->user))
        inside->user_hash = *hash;
    return inside;
}

asio::awaitable<void> refuse_inside(Transaction& transaction, RequestRefusal reason,
                                    std::string_view text) {
    transaction.note_refusal(reason);
    auto status = kOwnAnswer;
    status.detail = to_string(reason);
    co_await transaction.refuse(503, text, status);
}

/// Says 200 and counts that. From here on the requests inside count in `clients.limits`, and the
/// CONNECT does not. False: the client has left.
asio::awaitable<bool> open_inside(Transaction& transaction) {
    if (const auto& share = transaction.request.share) share->leave();
    auto& stats = transaction.stats;
    stats.status = 200;
    stats.outcome = Outcome::uncacheable;
    stats.source = Source::none;
    const auto open = co_await transaction.opener->open(200, {});
    stats.aborted = !open;
    if (open) ++transaction.service.counters.intercepted_connections;
    co_return open;
}

/// Two ends of one local connection.
struct SocketPair {
    tcp::socket near, far;
};

std::optional<SocketPair> new_pair(const asio::any_io_executor& executor) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
        return std::nullopt;
    SocketPair made{tcp::socket(executor), tcp::socket(executor)};
    boost::system::error_code error;
    made.near.assign(tcp::v4(), ends[0], error);
    if (error) ::close(ends[0]);
    boost::system::error_code error_far;
    made.far.assign(tcp::v4(), ends[1], error_far);
    if (error_far) ::close(ends[1]);
    if (error || error_far) return std::nullopt;
    made.near.non_blocking(true, error);
    return made;
}

/// Counts as a connection of the node until it is destroyed.
class NearEnd {
public:
    explicit NearEnd(SharedClientState& shared) : shared_(shared) {
        shared_.connections.fetch_add(1, std::memory_order_relaxed);
    }
    NearEnd(const NearEnd&) = delete;
    NearEnd& operator=(const NearEnd&) = delete;
    ~NearEnd() { shared_.connections.fetch_sub(1, std::memory_order_relaxed); }

private:
    SharedClientState& shared_;
};

/// The places of the two ends of a pair among the connections of an address.
struct PairAddresses {
    ConnectionsByAddress::Ticket far, near;
};

/// A connection beside the one that carries it takes two places, one for each of its descriptors.
/// Nothing: they are not there.
std::optional<PairAddresses> take_places(ClientService& service, const asio::ip::address& client) {
    PairAddresses places;
    if (!service.config().clients.trusted_proxies.contains(client)) {
        places.far = service.shared.addresses.take(client);
        places.near = service.shared.addresses.take(client);
    }
    ConnectionLoad load{service.shared.connections.load(std::memory_order_relaxed) + 1,
                        service.connections_allowed(), places.near.of_address(),
                        service.share_of_address()};
    if (load.of_address > 0) --load.of_address;  // the near end
    if (judge_connection(load) != ConnectionVerdict::free) return std::nullopt;
    return places;
}

/// The bytes between the client and the connection inside, until both directions have ended.
asio::awaitable<void> pass_bytes(Tunnel& tunnel, TunnelOpener& opener, tcp::socket& near,
                                 bool& reset) {
    auto early = opener.take_early();
    const auto end = co_await tunnel.run(std::move(early), {});
    reset = end == Tunnel::End::upstream_reset;
    boost::system::error_code ignored;
    near.close(ignored);  // so that the connection inside ends, too
}

/// Serves the connection inside, and tells the tunnel of its end. A fault there ends it alone.
asio::awaitable<void> serve_guarded(ClientService& service, AcceptedConnection client,
                                    std::unique_ptr<InterceptedConnect> inside, Tunnel& tunnel) {
    auto failed = false;
    try {
        co_await service.serve_intercepted(service, std::move(client), std::move(inside));
    } catch (...) {
        failed = true;
        if (is_cancelled()) throw;
    }
    if (failed) service.shared.faults.note("intercepted connection");
    tunnel.inside_is_over();
}

asio::awaitable<void> serve_beside(Transaction& transaction,
                                   std::unique_ptr<InterceptedConnect> inside) {
    auto& service = transaction.service;
    auto places = take_places(service, inside->client);
    auto pair = places && service.serve_intercepted ? new_pair(service.executor) : std::nullopt;
    if (!pair)
        co_return co_await refuse_inside(transaction, RequestRefusal::too_many_connections,
                                         "There is no place for another connection "
                                         "(limits.connections, limits.connections_per_address).");
    const auto open = co_await open_inside(transaction);
    if (!open) co_return;
    auto& opener = *transaction.opener;
    AcceptedConnection client(std::move(pair->far), Scheme::http, inside->client);
    client.ticket = std::move(places->far);
    const NearEnd counted(service.shared);
    SocketSide near(pair->near, nullptr);
    // The connection inside counts its bytes itself.
    std::uint64_t uncounted = 0;
    Tunnel tunnel(service, opener.side(), near, uncounted, nullptr, Tunnel::Leads::inside);
    auto reset = false;
    auto passes = pass_bytes(tunnel, opener, pair->near, reset);
    auto serves = serve_guarded(service, std::move(client), std::move(inside), tunnel);
    const auto executor = co_await asio::this_coro::executor;
    auto both = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, std::move(passes), asio::deferred),
        asio::co_spawn(executor, std::move(serves), asio::deferred));
    co_await std::move(both).async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
    if (reset) opener.side().reset();
}

}  // namespace

asio::awaitable<void> intercept_connect(Transaction& transaction, std::string name,
                                        std::uint16_t port) {
    auto& service = transaction.service;
    transaction.stats.intercepted = true;
    auto inside = intercepted_connect(transaction.request, transaction.service.settings.files(),
                                      std::move(name), port);
    inside->leaf = co_await service.shared.leaves.get(inside->interception->authority, inside->name,
                                                      service.executor);
    if (!inside->leaf)
        co_return co_await refuse_inside(transaction, RequestRefusal::no_certificate,
                                         "No certificate could be made for this host "
                                         "(forward.intercept): the log says why.");
    if (!transaction.opener->goes_on_intercepted())
        co_return co_await serve_beside(transaction, std::move(inside));
    const auto open = co_await open_inside(transaction);
    if (open) transaction.opener->keep_intercepted(std::move(inside));
}

}  // namespace proxy
