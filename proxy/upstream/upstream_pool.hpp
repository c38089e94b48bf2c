#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/async/sleep.hpp"
#include "base/async/timer_wheel.hpp"
#include "base/memory/memory.hpp"
#include "base/net/dialer.hpp"
#include "base/net/resolver.hpp"
#include "protocol/membership/peer_config.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"
#include "proxy/tls/tls_trust.hpp"
#include "proxy/upstream/connection_seats.hpp"
#include "proxy/upstream/destinations.hpp"
#include "proxy/upstream/idle_connections.hpp"
#include "proxy/upstream/upstream_connection.hpp"

namespace proxy {

/// The destination of a request.
struct UpstreamTarget : HostPort {
    bool on_clients_word = false;  // a client named it, so judge_destination() decides
    std::shared_ptr<const TlsClient> tls = nullptr;  // of an origin; null: in the clear
    /// Address of the client that named the host; empty: the configuration named it. It keeps one
    /// client from taking all name look-ups.
    std::string client = {};
    /// The site in counts of answers: host and path of its entry of `origins`; empty: a forward
    /// target.
    std::string site = {};
    bool peer = false;  // another node: the pool keeps as many idle connections as it has room for
    bool encrypted = false;  // of a peer: by the key of the cluster (TlsContexts::peers)

    /// The servers, or the parent proxies, of which an OriginPermit chooses one; null: host and
    /// port are the server. Until the choice host and port are the name of the group, or the
    /// forward target.
    std::shared_ptr<const UpstreamGroupConfig> group = nullptr;
    std::uint64_t spread = 0;  // a hash of the URL, for Balance::rendezvous
    std::uint32_t mark = 0;    // of the chosen server; 0: there is no group
    /// The chosen parent proxy, an element of `group`; null: the connection is direct.
    const UpstreamServer* via = nullptr;
    bool tunnel = false;   // the bytes are a client's: a parent is to open a tunnel
    std::string key = {};  // connection_key() of all its servers, once that is known

    /// The parent passes bytes on, and reads no requests.
    bool through_tunnel() const { return via != nullptr && (tunnel || tls); }
};

/// The name of this node in Via of a request to this server; empty: the node leaves itself out
/// (`forwarded.via`). Loops pass proxies, so a parent proxy always reads a name.
std::string name_in_via(const Config& config, const UpstreamTarget& to);

/// The idle connections that a request may use. The other side may be closing any of them.
enum class ConnectionReuse : std::uint8_t {
    none,
    recent,  // used within kRecentlyUsed: the request cannot simply be sent again
    any,
};
/// Shorter than the keep-alive time of any known server, so that hardly any connection closes just
/// when a request goes out on it.
inline constexpr std::chrono::seconds kRecentlyUsed{1};
/// Idle connections to one origin above kUpstreamIdlePerOrigin stay for this long. The
/// next burst finds them, and an origin with few processes has them back soon.
inline constexpr std::chrono::milliseconds kSurplusKept{250};

/// An origin that sends a body after the head for HEAD does so within this time. Until then the
/// connection rests, so that the body is not taken for the next response.
inline constexpr std::chrono::milliseconds kLateBody{200};

/// The number of idle connections to one origin that a worker keeps for longer than that.
std::size_t idle_share(std::size_t per_origin, unsigned workers);

/// Open connections of one worker, by place. One thread. The pool keeps at most
/// kUpstreamIdle idle ones, of these idle_share() to one origin for longer than a moment.
/// `limits.upstream_connections` bounds the open ones to one place; the next request gets
/// FetchError::busy. An idle connection stays in use only while its name still has its address, so
/// changes of DNS take effect however busy the connections are.
class UpstreamPool : private base::TimerWheel::Timer {
public:
    using Clock = std::chrono::steady_clock;
    template <class T>
    using Result = boost::system::result<T, FetchError>;

    /// `config`: the one in effect. The arguments outlive the pool.
    UpstreamPool(boost::asio::any_io_executor executor, base::TimerWheel& wheel,
                 const ConfigInEffect& config, base::MemoryBudget& windows,
                 std::uint64_t& peer_handshakes, base::Resolver::Options look_ups = {});

    /// The idle connection that acquire() would give; null: it may have to wait, or `target` has a
    /// parent proxy.
    UpstreamPtr take_kept(const UpstreamTarget& target, ConnectionReuse kept);
    /// An idle connection that `kept` allows, the last used first, else a new one. Where only the
    /// age of the idle ones forbids their use, the oldest makes room for the new one, so that an
    /// origin with few processes has one for it.
    boost::asio::awaitable<Result<UpstreamPtr>> acquire(const UpstreamTarget& target,
                                                        Clock::time_point deadline,
                                                        ConnectionReuse kept);
    /// The connection of a client, which leaves `owned`, if it leads to the target and is still
    /// good; else null.
    UpstreamPtr take(const UpstreamTarget& target, UpstreamPtr& owned);
    /// Whether acquire() would refuse the target for its addresses: not_allowed or own_listener,
    /// else none, also where the name has no address. It looks names up and connects to nothing.
    boost::asio::awaitable<FetchError> judge(UpstreamTarget target, Clock::time_point deadline);
    /// The addresses that a new connection would choose from; none if the name has none in time.
    boost::asio::awaitable<std::vector<std::string>> addresses_of(UpstreamTarget target,
                                                                  Clock::time_point deadline);
    /// Takes a connection back after it has read the last response to the end. Its buffer is empty.
    void release(UpstreamPtr connection);
    /// The same for the connection of a client, which goes to `owned`. It has no seat while it is
    /// idle: nobody else can use it or end it, so idle clients would take the origin from all
    /// others.
    static void release(UpstreamPtr connection, UpstreamPtr& owned);
    /// Keeps the ticket that resumes a TLS session, for the next connection to the same place.
    void keep_ticket(UpstreamConnection& connection);
    /// This connection took a request and stayed silent. The pool tries other addresses of its
    /// place first.
    void distrust(const UpstreamConnection& connection);
    /// Why the last TLS handshake of this worker with a host failed, such as `certificate has
    /// expired`; empty if none did.
    std::string_view tls_trouble(std::string_view host) const;
    /// This connection is dead, without a word from the other side: closes the idle ones to the
    /// same address.
    void remove_siblings(const UpstreamConnection& connection);
    void close_idle() { idle_.clear(); }
    /// Sets the places of peers, as discovery and their links report them; null: none. An idle
    /// connection that a client named closes if a peer turns up at its port, and the next one is
    /// judged anew.
    void set_peer_places(std::shared_ptr<const std::vector<protocol::PeerPlace>> places);

    /// The budget of bytes that are read ahead.
    base::MemoryBudget& windows() { return windows_; }

private:
    void expire() override;

    /// The addresses of the target that the destination rules allow.
    boost::asio::awaitable<Result<base::Endpoints>> admitted_endpoints(const UpstreamTarget& target,
                                                                       Clock::time_point deadline,
                                                                       std::size_t& all);
    /// Looks up the ClusterAddresses of this target.
    boost::asio::awaitable<FetchError> look_around(const Config& config,
                                                   const UpstreamTarget& target,
                                                   Clock::time_point deadline,
                                                   ClusterAddresses& out);
    boost::asio::awaitable<FetchError> prepare(UpstreamConnection& connection,
                                               const UpstreamTarget& target,
                                               const TlsClient* parent);
    void begin_tls(UpstreamConnection& connection, const UpstreamTarget& target);
    boost::asio::awaitable<FetchError> secure(UpstreamConnection& connection,
                                              const UpstreamTarget& target);
    boost::asio::awaitable<FetchError> secure_parent(UpstreamConnection& connection,
                                                     const UpstreamServer& via,
                                                     const TlsClient& parent);
    void note_tls_trouble(const UpstreamTarget& target, std::string_view why);
    boost::asio::awaitable<FetchError> shake_hands(UpstreamConnection& connection,
                                                   std::string place);
    base::SslSessionPtr take_ticket(const std::string& key);
    void keep_ticket_at(const std::string& key, UpstreamConnection& connection);
    /// Asks the parent of `target` for a tunnel to it.
    boost::asio::awaitable<FetchError> open_tunnel(UpstreamConnection& connection,
                                                   const UpstreamTarget& target);
    /// Judges a target that a parent will resolve, by its own text.
    FetchError judge_text(const UpstreamTarget& target) const;
    UpstreamPtr new_connection(const UpstreamTarget& target, const std::string& key,
                               boost::asio::ip::tcp::socket socket,
                               std::shared_ptr<const void> seat);
    UpstreamPtr take_idle(const UpstreamTarget& target, const std::string& key,
                          ConnectionReuse kept);
    bool is_usable(UpstreamConnection& idle) const;
    /// False when there is none.
    bool remove_oldest(const std::string& key);
    void remove_expired(Clock::time_point now);
    void remove_surplus(Clock::time_point now);
    /// Null when all are taken.
    std::shared_ptr<const void> take_seat(const std::string& key);

    boost::asio::any_io_executor executor_;
    base::TimerWheel& wheel_;
    base::Resolver resolver_;
    base::Dialer dialer_;
    const ConfigInEffect& config_;
    base::MemoryBudget& windows_;
    std::uint64_t& peer_handshakes_;
    IdleConnections idle_;
    ConnectionSeats seats_;
    std::chrono::nanoseconds slept_ = base::slept();
    bool looking_after_idle_ = false;                               // expire() will come
    std::unordered_map<std::string, base::SslSessionPtr> tickets_;  // by key
    RateLimitedLog tls_log_;  // and of parents that refuse tunnels
    static constexpr std::size_t kMaxTlsTroubles = 256;
    std::map<std::string, std::string, std::less<>> tls_troubles_;  // by host
    std::shared_ptr<const std::vector<protocol::PeerPlace>> peer_places_;
};

/// The machine that the request for a target goes to, for texts about its failure.
UpstreamRole asked_server(const UpstreamTarget& target);
/// The place of a target for logs: host:port, or the name of a group without a choice.
std::string place_text(const UpstreamTarget& target);
/// The identity of an origin, for measurements: host:port or the name of a group, the party that
/// named it, and its TLS context. Connections through a parent have it in common.
std::string connection_key(const UpstreamTarget& target);

}  // namespace proxy
