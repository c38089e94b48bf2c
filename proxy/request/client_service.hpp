#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/async/timer_wheel.hpp"
#include "base/memory/high_water_mark.hpp"
#include "proxy/access/accounts.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/request/accepted_connection.hpp"
#include "proxy/request/authenticator.hpp"
#include "proxy/request/connections_by_address.hpp"
#include "proxy/request/intercepted_connect.hpp"
#include "proxy/request/upload_slots.hpp"
#include "proxy/storage/node_events.hpp"
#include "proxy/telemetry/access_log.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/telemetry/exception_barrier.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"
#include "proxy/telemetry/shortage_period.hpp"
#include "proxy/telemetry/site_counts.hpp"
#include "proxy/telemetry/span_queue.hpp"
#include "proxy/telemetry/top_requests.hpp"
#include "proxy/tls/leaf_certificates.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// How many descriptors this process may open (RLIMIT_NOFILE).
std::uint64_t descriptor_limit();

/// The state about clients that the workers of a node share. Any thread.
struct SharedClientState {
    SharedClientState(const Config& config, NodeEvents& to_node)
        : events(to_node), access_log(config.log) {}

    NodeEvents& events;
    AccessLog access_log;
    SpanQueue spans;  // of `tracing`
    ExceptionBarrier faults;
    std::atomic<bool> draining{false};
    std::atomic<std::uint64_t> connections{0};
    ConnectionsByAddress addresses;
    Accounts address_accounts, user_accounts;                            // of clients.limits
    const std::shared_ptr<Account> peers = std::make_shared<Account>();  // of cluster.bandwidth
    Authenticator authenticator;
    LeafCertificates leaves;  // of forward.intercept
    base::HighWaterMark high_water_mark;
    /// Clients get half of the limit of open files, so that each can be served from upstream.
    const std::uint64_t connections_possible = descriptor_limit() / 2;
    ShortagePeriod crowded;          // connections make room for new ones, or new ones are refused
    ShortagePeriod crowded_address;  // the same for those of one address
};

/// What one worker's log says of clients, now and then.
struct ClientLogs {
    RateLimitedLog listed;        // of requests for targets in lists that refuse nothing
    RateLimitedLog untrusted;     // of clients that refuse certificates of forward.intercept
    RateLimitedLog proxy_header;  // of trusted proxies without a good PROXY header
};

/// The client side of one worker: its connections, and the parts of the node that serve them. One
/// thread.
class ClientService {
public:
    class ConnectionList;

    /// One client connection, whatever its protocol. It ends early when the node leaves, or when it
    /// waits for a request and others need its place.
    class Connection : public base::TimerWheel::Timer {
    public:
        /// No request follows the one at hand, or the next one if none is.
        virtual void retire() = 0;
        /// The same, and an idle connection ends soon.
        virtual void drain() = 0;
        /// The wait for a request ends, and with it the connection.
        virtual void give_way() = 0;
        /// A peer has proven itself by its token in a request.
        virtual void peer_proven() = 0;
        /// The bytes of the connection are encrypted, for a client or for a peer.
        virtual bool encrypted() const = 0;
        /// Its other end is on this host, whatever a PROXY header says.
        virtual bool from_this_host() const = 0;

        const ConnectionsByAddress::Ticket& ticket() const { return ticket_; }
        /// Its address may ask nothing, and no peer has proven itself on it (AcceptedConnection).
        bool stranger() const { return static_cast<bool>(stranger_); }

    protected:
        using Time = base::TimerWheel::Clock::time_point;
        static constexpr auto kServed = Time::max();
        Time waits_since_ = kServed;  // for a request
        ConnectionsByAddress::Ticket ticket_;
        ScopedCount stranger_;

    private:
        friend class ConnectionList;
        std::size_t index_ = 0;
    };

    /// The connections of the worker, and whether they are to end.
    class ConnectionList {
    public:
        void add(Connection& connection);
        void remove(Connection& connection);
        /// Ends the connection that has waited for a request for longest, among those that `may`
        /// end. Each call looks at the next kLooksPerCall connections. False: none was found.
        template <class May>
        bool end_longest_waiting(const May& may) {
            Connection* longest = nullptr;
            for (auto left = std::min(all_.size(), kLooksPerCall); left > 0; --left) {
                next_look_ = next_look_ + 1 < all_.size() ? next_look_ + 1 : 0;
                auto* connection = all_[next_look_];
                if (connection->waits_since_ == Connection::kServed || !may(*connection)) continue;
                if (!longest || connection->waits_since_ < longest->waits_since_)
                    longest = connection;
            }
            if (!longest) return false;
            longest->waits_since_ = Connection::kServed;
            longest->give_way();
            return true;
        }

        /// From here on connections end after the response to their next request.
        void retire();
        /// The same for connections that come now.
        void begin_drain() { stage_ = Stage::draining; }
        /// Connections end after their present request.
        void drain();
        /// Connections end with their next response.
        bool retiring() const { return stage_ != Stage::open; }
        bool draining() const { return stage_ == Stage::draining; }

        std::size_t strangers = 0;  // that are or become Connection::stranger()

    private:
        static constexpr std::size_t kLooksPerCall = 1024;
        enum class Stage : std::uint8_t { open, retiring, draining };

        std::vector<Connection*> all_;
        std::size_t next_look_ = 0;
        Stage stage_ = Stage::open;
    };

    /// All must outlive this; `in_effect` is replaced by a reload.
    ClientService(SharedClientState& all, Cache& behind, const ConfigInEffect& in_effect);
    ClientService(const ClientService&) = delete;
    ClientService& operator=(const ClientService&) = delete;

    void add(Connection& connection);
    void remove(Connection& connection);
    /// As ConnectionList::end_longest_waiting(), and counts it.
    template <class May>
    bool make_room(const May& may) {
        const auto made = connections.end_longest_waiting(may);
        if (made) ++counters.connections_made_room;
        return made;
    }
    /// The most connections for all clients, and for one address.
    std::uint64_t connections_allowed() const {
        return std::min<std::uint64_t>(config().limits.connections, shared.connections_possible);
    }
    std::uint64_t share_of_address() const {
        return connections_of_one(config().limits, connections_allowed());
    }
    /// The configuration in effect. A reload replaces it: keep settings.share() over a wait.
    const LoadedConfig& config() const { return *settings; }

    SharedClientState& shared;
    Cache& cache;
    Upstream& upstream;
    const ConfigInEffect& settings;
    base::TimerWheel& wheel;
    WorkerCounters& counters;
    RuleTable::HostMemo last_host;  // of requests
    SiteCounts site_counts;
    TopRequests top;
    UploadSlots upload_slots;
    /// Serves a connection of its own inside a CONNECT; null before an Acceptor is there.
    using InterceptedServer = boost::asio::awaitable<void> (*)(ClientService&, AcceptedConnection,
                                                               std::unique_ptr<InterceptedConnect>);
    InterceptedServer serve_intercepted = nullptr;
    ClientLogs logs;
    const boost::asio::any_io_executor executor;
    /// Memory for the frames of an HTTP/2 connection, which takes it while it sends. Empty between
    /// the turns of connections.
    std::string frames;
    ConnectionList connections;
};

}  // namespace proxy
