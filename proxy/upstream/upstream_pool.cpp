#include "proxy/upstream/upstream_pool.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>

#include "base/net/plain_address.hpp"
#include "base/tls/psk_context.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/via.hpp"
#include "proxy/tls/tls_contexts.hpp"
#include "proxy/upstream/parent_tunnel.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

constexpr std::size_t kTunnelReadBytes = 2048;
constexpr std::size_t kMaxTickets = 1024;  // then they are all dropped: they only save time

FetchError error_of(Destination refused) {
    return refused == Destination::own_house ? FetchError::own_listener : FetchError::not_allowed;
}

/// The other side has closed a readable idle connection, or sends bytes without a request.
bool still_quiet(UpstreamConnection& connection) {
    if (connection.tls && connection.tls->has_pending()) return false;
    char byte;
    const auto n = ::recv(connection.socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

FetchError why_not_resolved(const boost::system::error_code& error) {
    if (error == base::Error::resolve_timeout) return FetchError::resolve_timeout;
    if (error == asio::error::operation_aborted) return FetchError::abandoned;
    return FetchError::resolve_failed;
}

FetchError why_not_connected(const boost::system::error_code& error) {
    if (error == base::Error::connect_timeout) return FetchError::connect_timeout;
    if (error == asio::error::no_descriptors) return FetchError::no_descriptors;
    if (error == asio::error::operation_aborted) return FetchError::abandoned;
    return FetchError::connect_failed;
}

/// A reload may have closed a destination that was open when the connection was made.
bool is_still_open(const Config& config, PeerPlaces found, const UpstreamConnection& connection) {
    boost::system::error_code gone;
    const auto place = connection.socket.remote_endpoint(gone);
    const ClusterAddresses around{{}, {}, found};
    return !gone &&
           judge_destination(config, around, place.address(), place.port()) == Destination::open;
}

PeerPlaces all_of(const std::shared_ptr<const std::vector<protocol::PeerPlace>>& places) {
    return places ? PeerPlaces(*places) : PeerPlaces();
}

/// The place that a connection leads to.
const HostPort& dialled_place(const UpstreamTarget& target) {
    return target.via ? target.via->place : target;
}

/// The connections to a parent proxy that are alike. `parent`: null for one in the clear.
std::string parent_key(const UpstreamServer& via, const TlsClient* parent) {
    auto key = "^" + via.place.text();
    if (parent) key.append("/tls").append(std::to_string(parent->id));
    return key;
}

/// The requests that may share a connection. A parent reads the target of each request. The result
/// lasts as long as `target` and `scratch`.
const std::string& pool_key(const UpstreamTarget& target, const TlsClient* parent,
                            std::string& scratch) {
    const auto is_chosen = target.via || target.mark != 0;
    if (!is_chosen && !target.key.empty()) return target.key;
    scratch = !target.via || target.through_tunnel() ? connection_key(target) : std::string();
    if (target.via) scratch.append(parent_key(*target.via, parent));
    return scratch;
}

}  // namespace

std::string name_in_via(const Config& config, const UpstreamTarget& to) {
    const auto mode = config.forwarded.via;
    if (mode == ViaMode::pseudonym) return via_pseudonym(config.node);
    return mode == ViaMode::off && !to.via ? std::string() : config.node;
}

std::size_t idle_share(std::size_t per_origin, unsigned workers) {
    return per_origin == 0 ? 0 : std::max<std::size_t>(1, per_origin / workers);
}

UpstreamRole asked_server(const UpstreamTarget& target) {
    if (!target.group) return UpstreamRole::origin;
    if (!target.group->parents) return UpstreamRole::member;
    return target.tunnel || target.tls ? UpstreamRole::tunnel : UpstreamRole::parent;
}

std::string place_text(const UpstreamTarget& target) {
    const auto is_group = target.group && !target.group->parents && target.mark == 0;
    return is_group ? target.host : target.text();
}

std::string connection_key(const UpstreamTarget& target) {
    auto key = place_text(target);
    if (target.on_clients_word)
        key += '!';  // never hand such a client a connection opened for an origin entry
    if (target.tls) key.append("/tls").append(std::to_string(target.tls->id));
    if (target.encrypted) key.append("/psk");
    return key;
}

UpstreamPool::UpstreamPool(asio::any_io_executor executor, base::TimerWheel& wheel,
                           const ConfigInEffect& config, base::MemoryBudget& windows,
                           std::uint64_t& peer_handshakes, base::Resolver::Options look_ups)
    : executor_(std::move(executor)),
      wheel_(wheel),
      resolver_(executor_, std::move(look_ups)),
      dialer_(executor_),
      config_(config),
      windows_(windows),
      peer_handshakes_(peer_handshakes) {}

/// A connection that was idle while the machine slept has most likely ended, unheard.
void UpstreamPool::remove_expired(Clock::time_point now) {
    const auto slept = base::slept();
    if (std::exchange(slept_, slept) + config_->timeouts.origin_idle < slept) idle_.clear();
    while (!idle_.empty() && idle_.oldest()->idle_since + config_->timeouts.origin_idle < now)
        idle_.remove(idle_.begin());
}

void UpstreamPool::remove_surplus(Clock::time_point now) {
    const auto share = idle_share(kUpstreamIdlePerOrigin, config_->workers);
    IdleConnections::Places surplus;
    for (const auto& [key, idle] : idle_.by_key())
        for (std::size_t i = 0; idle.size() - i > share; ++i) {
            const auto& oldest = **idle[i];
            if (oldest.to_peer || oldest.idle_since + kSurplusKept > now) break;
            surplus.push_back(idle[i]);
        }
    for (const auto each : surplus) idle_.remove(each);
}

void UpstreamPool::expire() {
    const auto now = Clock::now();
    remove_expired(now);
    remove_surplus(now);
    looking_after_idle_ = !idle_.empty();
    if (looking_after_idle_) wheel_.arm(*this, now + kSurplusKept);
}

bool UpstreamPool::remove_oldest(const std::string& key) {
    const auto* const places = idle_.at(key);
    if (places) idle_.remove(places->front());
    return places != nullptr;
}

UpstreamPtr UpstreamPool::take_idle(const UpstreamTarget& target, const std::string& key,
                                    ConnectionReuse kept) {
    const auto now = Clock::now();
    remove_expired(now);
    const auto* const places = idle_.at(key);
    if (!places) return nullptr;
    // With its last connection the entry goes, and this ends.
    for (auto left = places->size(); left > 0;) {
        const auto candidate = (*places)[--left];
        const auto& idle = **candidate;
        if (kept == ConnectionReuse::recent && idle.idle_since + kRecentlyUsed < now)
            return nullptr;
        // It may be one of its name's addresses again, as some names give a few at a time.
        if (idle.quiet_until > now) continue;
        if (!idle.by_address &&
            !resolver_.leads_to(dialled_place(target).host, idle.remote.address(),
                                target.via ? std::string() : target.client))
            continue;
        auto taken = idle_.remove(candidate);
        if (is_usable(*taken)) return taken;
    }
    return nullptr;
}

bool UpstreamPool::is_usable(UpstreamConnection& idle) const {
    return still_quiet(idle) &&
           (!idle.on_clients_word || is_still_open(*config_, all_of(peer_places_), idle));
}

UpstreamPtr UpstreamPool::take(const UpstreamTarget& target, UpstreamPtr& owned) {
    const auto has_secure_parent = target.via && target.via->tls;
    const auto parent = has_secure_parent ? config_->trust->forward : nullptr;
    const auto is_closed =
        target.via && target.on_clients_word && judge_text(target) != FetchError::none;
    std::string scratch;
    if (is_closed || owned->key != pool_key(target, parent.get(), scratch)) return nullptr;
    auto taken = std::move(owned);
    if (!is_usable(*taken)) return nullptr;
    taken->seat = take_seat(taken->key);
    if (!taken->seat && remove_oldest(taken->key)) taken->seat = take_seat(taken->key);
    if (taken->seat) return taken;
    owned = std::move(taken);  // the origin is busy
    return nullptr;
}

std::shared_ptr<const void> UpstreamPool::take_seat(const std::string& key) {
    return seats_.take(key, config_->limits.upstream_connections);
}

UpstreamPtr UpstreamPool::take_kept(const UpstreamTarget& target, ConnectionReuse kept) {
    if (target.via || kept == ConnectionReuse::none) return nullptr;
    std::string scratch;
    return take_idle(target, pool_key(target, nullptr, scratch), kept);
}

asio::awaitable<UpstreamPool::Result<UpstreamPtr>> UpstreamPool::acquire(
    const UpstreamTarget& target, Clock::time_point deadline, ConnectionReuse kept) {
    if (target.via && target.on_clients_word) {
        const auto closed = judge_text(target);
        if (closed != FetchError::none) co_return closed;
    }
    const auto has_secure_parent = target.via && target.via->tls;
    const auto parent = has_secure_parent ? config_->trust->forward : nullptr;
    if (has_secure_parent && !parent) co_return FetchError::parent_tls_failed;  // just turned off
    std::string scratch;
    const auto& key = pool_key(target, parent.get(), scratch);
    if (kept != ConnectionReuse::none) {
        auto idle = take_idle(target, key, kept);
        if (idle) co_return idle;
        if (kept == ConnectionReuse::recent) remove_oldest(key);
    }
    auto seat = take_seat(key);
    if (!seat) {
        // An idle connection may stand where a new one is wanted.
        if (remove_oldest(key)) seat = take_seat(key);
        if (!seat) co_return FetchError::busy;
    }
    std::size_t addresses = 0;
    auto admitted = co_await admitted_endpoints(target, deadline, addresses);
    if (!admitted) co_return admitted.error();
    auto dialled = co_await dialer_.connect(key, std::move(*admitted), deadline);
    if (!dialled) {
        // For the next request.
        if (dialled.error() == asio::error::no_descriptors) idle_.clear();
        co_return why_not_connected(dialled.error());
    }
    auto connection = new_connection(target, key, std::move(*dialled), std::move(seat));
    if (!parent && !target.through_tunnel() && !target.tls && !target.encrypted)
        co_return connection;
    connection->deadline.set(deadline);
    const auto failed = co_await prepare(*connection, target, parent.get());
    if (failed == FetchError::none) co_return connection;
    const auto is_of_place = !target.via || failed == FetchError::parent_tls_failed;
    if (is_of_place && addresses > 1 && failed != FetchError::abandoned)
        dialer_.distrust(key, connection->remote);
    co_return failed;
}

asio::awaitable<UpstreamPool::Result<base::Endpoints>> UpstreamPool::admitted_endpoints(
    const UpstreamTarget& target, Clock::time_point deadline, std::size_t& all) {
    const auto is_judged = target.on_clients_word && !target.via;
    auto place = dialled_place(target);
    auto client = target.via ? std::string() : target.client;
    const auto endpoints =
        co_await resolver_.resolve(std::move(place), deadline, std::move(client));
    if (!endpoints) co_return why_not_resolved(endpoints.error());
    all = endpoints->size();
    const auto config = config_.share();
    const auto places = peer_places_;
    ClusterAddresses around;
    around.found = all_of(places);
    auto error = co_await look_around(*config, target, deadline, around);
    if (error != FetchError::none) co_return error;
    base::Endpoints admitted;
    for (const auto& endpoint : *endpoints) {
        const auto verdict =
            is_judged ? judge_destination(*config, around, endpoint.address(), endpoint.port())
                      : Destination::open;
        if (verdict == Destination::open)
            admitted.push_back(endpoint);
        else
            error = error_of(verdict);
    }
    if (admitted.empty()) co_return error;
    co_return admitted;
}

asio::awaitable<std::vector<std::string>> UpstreamPool::addresses_of(UpstreamTarget target,
                                                                     Clock::time_point deadline) {
    std::vector<std::string> texts;
    auto place = dialled_place(target);
    const auto endpoints = co_await resolver_.resolve(std::move(place), deadline, target.client);
    if (!endpoints) co_return texts;
    for (const auto& endpoint : *endpoints) texts.push_back(endpoint.address().to_string());
    co_return texts;
}

asio::awaitable<FetchError> UpstreamPool::judge(UpstreamTarget target, Clock::time_point deadline) {
    if (!target.on_clients_word) co_return FetchError::none;
    auto error = FetchError::none;
    if (target.group && target.group->parents) {
        error = judge_text(target);  // the parent resolves the name
    } else {
        std::size_t addresses = 0;
        const auto admitted = co_await admitted_endpoints(target, deadline, addresses);
        if (!admitted) error = admitted.error();
    }
    const auto is_refused = error == FetchError::not_allowed || error == FetchError::own_listener;
    co_return is_refused ? error : FetchError::none;
}

/// What comes before the first request: TLS to the parent, the tunnel, TLS to the target.
asio::awaitable<FetchError> UpstreamPool::prepare(UpstreamConnection& connection,
                                                  const UpstreamTarget& target,
                                                  const TlsClient* parent) {
    auto failed = FetchError::none;
    if (parent) failed = co_await secure_parent(connection, *target.via, *parent);
    if (failed == FetchError::none && target.through_tunnel())
        failed = co_await open_tunnel(connection, target);
    if (failed != FetchError::none) co_return failed;
    if (parent && target.through_tunnel())
        keep_ticket_at(parent_key(*target.via, parent), connection);
    if (target.tls || target.encrypted) failed = co_await secure(connection, target);
    co_return failed;
}

UpstreamPtr UpstreamPool::new_connection(const UpstreamTarget& target, const std::string& key,
                                         tcp::socket socket, std::shared_ptr<const void> seat) {
    auto connection = std::make_unique<UpstreamConnection>(executor_, wheel_, key);
    connection->socket = std::move(socket);
    connection->seat = std::move(seat);
    connection->to_peer = target.peer;
    connection->mark = target.mark;
    connection->on_clients_word = target.on_clients_word && !target.via;
    boost::system::error_code ec;
    connection->remote = connection->socket.remote_endpoint(ec);
    connection->address = address_text(connection->remote);
    asio::ip::make_address(dialled_place(target).host, ec);
    connection->by_address = !ec;
    connection->socket.set_option(tcp::no_delay(true), ec);
    return connection;
}

asio::awaitable<FetchError> UpstreamPool::look_around(const Config& config,
                                                      const UpstreamTarget& target,
                                                      Clock::time_point deadline,
                                                      ClusterAddresses& out) {
    if (!target.on_clients_word || target.via || !is_cluster_port(config, out.found, target.port))
        co_return FetchError::none;
    out.own = interface_addresses();
    for (const auto name : peer_names(config, out.found)) {
        HostPort place{std::string(name), target.port};
        const auto found = co_await resolver_.resolve(std::move(place), deadline);
        if (found) {
            for (const auto& endpoint : *found)
                out.peers.push_back(base::plain_address(endpoint.address()));
        } else if (found.error() == base::Error::resolve_timeout) {
            co_return FetchError::resolve_timeout;
        } else if (found.error() != base::Error::resolve_failed) {
            co_return FetchError::resolve_failed;  // not known is not the same as not there
        }
    }
    co_return FetchError::none;
}

FetchError UpstreamPool::judge_text(const UpstreamTarget& target) const {
    const auto verdict = judge_unresolved(*config_, all_of(peer_places_), target.host, target.port);
    return verdict == Destination::open ? FetchError::none : error_of(verdict);
}

/// Bytes behind the head belong to the tunnel. Under TLS the server speaks second, so there are
/// none.
asio::awaitable<FetchError> UpstreamPool::open_tunnel(UpstreamConnection& connection,
                                                      const UpstreamTarget& target) {
    const auto request =
        connect_request(target.text(), target.via->credentials, name_in_via(*config_, target));
    boost::system::error_code ec;
    auto sent = connection.write_now(asio::buffer(request), ec);
    if (!ec && sent < request.size())
        co_await connection.write(asio::buffer(request.data() + sent, request.size() - sent), ec);
    auto& buffer = connection.buffer;
    std::size_t scanned = 0, interim_bytes = 0;
    unsigned status = 0;
    // RFC 9110 §15.2: interim responses may come first. All heads together stay within the limit.
    while (!ec && status == 0 && interim_bytes + buffer.size() <= config_->limits.head) {
        if (const auto head = find_head_end(buffer.data(), scanned); head > 0) {
            status = status_in_head(buffer.data().substr(0, head));
            buffer.consume(head);
            if (!is_interim(status)) break;
            interim_bytes += head;
            scanned = 0;
            status = 0;
            continue;
        }
        const auto room = buffer.prepare(kTunnelReadBytes);
        const auto got = co_await connection.read_some(room, ec);
        buffer.commit(got);
    }
    if (connection.deadline.expired()) co_return FetchError::connect_timeout;
    if (ec == asio::error::operation_aborted) co_return FetchError::abandoned;
    if (ec) co_return FetchError::reset;
    if (status >= 200 && status < 300) {
        if (target.tls && !buffer.empty()) co_return FetchError::malformed;
        co_return FetchError::none;
    }
    if (status == 0) co_return FetchError::malformed;
    const auto place = target.via->place.text();
    if (const auto more = tls_log_.admit(place + " " + target.text(), Clock::now()))
        spdlog::warn("the parent proxy {} refused a tunnel to {} with {}{}", place, target.text(),
                     status, *more);
    co_return status < 500 ? FetchError::parent_denied : FetchError::parent_refused;
}

base::SslSessionPtr UpstreamPool::take_ticket(const std::string& key) {
    const auto known = tickets_.find(key);
    if (known == tickets_.end()) return nullptr;
    auto ticket = std::move(known->second);  // once only: RFC 8446 appendix C.4
    tickets_.erase(known);
    return ticket;
}

/// Behind a parent with TLS this is TLS within TLS.
void UpstreamPool::begin_tls(UpstreamConnection& connection, const UpstreamTarget& target) {
    const auto& name = target.tls->name.empty() ? target.host : target.tls->name;
    auto& context = target.tls->trust->context();
    auto ticket = take_ticket(connection.key);
    auto& tls = connection.tls;
    if (tls)
        tls = std::make_unique<base::TlsSession>(context, name, std::move(ticket), std::move(tls));
    else
        tls =
            std::make_unique<base::TlsSession>(context, name, std::move(ticket), connection.socket);
}

asio::awaitable<FetchError> UpstreamPool::secure_parent(UpstreamConnection& connection,
                                                        const UpstreamServer& via,
                                                        const TlsClient& parent) {
    auto ticket = take_ticket(parent_key(via, &parent));
    connection.tls = std::make_unique<base::TlsSession>(parent.trust->context(), via.place.host,
                                                        std::move(ticket), connection.socket);
    auto place = "the parent proxy " + via.place.text();
    const auto failed = co_await shake_hands(connection, std::move(place));
    co_return failed == FetchError::tls_failed ? FetchError::parent_tls_failed : failed;
}

asio::awaitable<FetchError> UpstreamPool::secure(UpstreamConnection& connection,
                                                 const UpstreamTarget& target) {
    // Kept during the handshake, which looks the key up.
    const auto psk = target.encrypted ? config_.files().tls->peers : nullptr;
    if (target.encrypted && !psk) co_return FetchError::tls_failed;  // just turned off
    if (target.encrypted)
        connection.tls = std::make_unique<base::TlsSession>(psk->client(), base::TlsSide::client,
                                                            connection.socket);
    else
        begin_tls(connection, target);
    auto place = target.text();
    const auto failed = co_await shake_hands(connection, std::move(place));
    if (target.encrypted) ++peer_handshakes_;
    if (failed == FetchError::tls_failed) note_tls_trouble(target, connection.tls->why());
    co_return failed;
}

void UpstreamPool::note_tls_trouble(const UpstreamTarget& target, std::string_view why) {
    if (tls_troubles_.size() >= kMaxTlsTroubles) tls_troubles_.clear();
    tls_troubles_.insert_or_assign(target.host, std::string(why));
}

/// `place`: for the log.
asio::awaitable<FetchError> UpstreamPool::shake_hands(UpstreamConnection& connection,
                                                      std::string place) {
    boost::system::error_code ec;
    co_await tls_handshake(connection.socket, *connection.tls, ec);
    if (!ec) co_return FetchError::none;
    if (connection.deadline.expired()) co_return FetchError::connect_timeout;
    if (ec == asio::error::operation_aborted) co_return FetchError::abandoned;
    if (connection.tls->was_cut()) co_return FetchError::reset;
    if (const auto more = tls_log_.admit(place, Clock::now()))
        spdlog::warn("no TLS connection to {}: {}{}", place, connection.tls->why(), *more);
    co_return FetchError::tls_failed;
}

std::string_view UpstreamPool::tls_trouble(std::string_view host) const {
    const auto found = tls_troubles_.find(host);
    return found == tls_troubles_.end() ? std::string_view() : found->second;
}

void UpstreamPool::distrust(const UpstreamConnection& connection) {
    dialer_.distrust(connection.key, connection.remote);
}

void UpstreamPool::keep_ticket(UpstreamConnection& connection) {
    if (connection.tls) keep_ticket_at(connection.key, connection);
}

void UpstreamPool::keep_ticket_at(const std::string& key, UpstreamConnection& connection) {
    auto ticket = connection.tls->take_ticket();
    if (!ticket) return;
    if (tickets_.size() >= kMaxTickets) tickets_.clear();
    tickets_[key] = std::move(ticket);
}

void UpstreamPool::release(UpstreamPtr connection, UpstreamPtr& owned) {
    connection->seat.reset();
    connection->deadline.clear();
    connection->buffer.trim();
    connection->idle_since = Clock::now();
    owned = std::move(connection);
}

void UpstreamPool::release(UpstreamPtr connection) {
    connection->deadline.clear();
    if (!connection->buffer.empty()) return;
    connection->buffer.trim();
    connection->idle_since = Clock::now();
    remove_expired(connection->idle_since);
    while (idle_.size() >= kUpstreamIdle) idle_.remove(idle_.begin());
    idle_.add(std::move(connection));
    if (std::exchange(looking_after_idle_, true)) return;
    wheel_.arm(*this, Clock::now() + kSurplusKept);
}

void UpstreamPool::set_peer_places(std::shared_ptr<const std::vector<protocol::PeerPlace>> places) {
    const auto earlier = std::exchange(peer_places_, std::move(places));
    const auto now = all_of(peer_places_);
    const bool is_same = std::ranges::equal(all_of(earlier), now);
    for (auto each = idle_.begin(); !is_same && each != idle_.end();) {
        const auto candidate = each++;
        const auto port = (*candidate)->remote.port();
        const bool is_of_a_peer = std::ranges::any_of(now, [port](const auto& place) {
            return place.http_port == port || place.link_port == port;
        });
        if ((*candidate)->on_clients_word && is_of_a_peer) idle_.remove(candidate);
    }
}

void UpstreamPool::remove_siblings(const UpstreamConnection& connection) {
    const auto* const places = idle_.at(connection.key);
    if (!places) return;
    auto siblings = *places;
    std::erase_if(siblings, [&](const auto& each) { return (*each)->remote != connection.remote; });
    for (const auto each : siblings) idle_.remove(each);
}

}  // namespace proxy
