#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/keys.hpp"
#include "protocol/peer_view.hpp"
#include "protocol/resolver.hpp"
#include "protocol/task_group.hpp"
#include "proxy/admin/access_log.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/config.hpp"
#include "proxy/crowd.hpp"
#include "proxy/episode.hpp"
#include "proxy/forwarding/origin_health.hpp"
#include "proxy/forwarding/origin_times.hpp"
#include "proxy/forwarding/peer_choice.hpp"
#include "proxy/forwarding/timer_wheel.hpp"
#include "proxy/forwarding/upstream_pool.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/purge.hpp"
#include "proxy/rate_limited_log.hpp"
#include "proxy/storage/store.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// Keys that were fetched from a peer once, for the copy policy `second_use`. Any thread.
class SeenOnce {
public:
    static constexpr std::size_t kMaxKeys = 65536;  // then it starts anew

    /// True when the key was noted before.
    bool note(summary::KeyHash key) {
        const std::lock_guard lock(mutex_);
        if (seen_.size() >= kMaxKeys) seen_.clear();
        return !seen_.insert(key.low ^ key.high).second;
    }

private:
    std::mutex mutex_;
    boost::unordered_flat_set<std::uint64_t> seen_;
};

/// How many descriptors this process may open (RLIMIT_NOFILE).
std::uint64_t descriptor_limit();

/// What all workers of a node share. Everything here may be used by any thread.
struct Shared {
    /// How workers reach the rest of the node. Any thread.
    struct Hooks {
        Store::Listener changed;
        /// A key or tag was invalidated here and is to be at all peers.
        std::function<void(summary::KeyHash, bool is_tag)> tell_peers;
        /// `done` is called on another thread, kPurgeDeadline later at most; never when the node
        /// ends before.
        std::function<void(PurgeOrder, std::function<void(PurgeReport)> done)> purge;
    };

    Shared(const Config& config, const summary::KeyHasher& hasher, Hooks to_node)
        : hooks(std::move(to_node)),
          key_hasher(hasher),
          field_key(protocol::field_key(config.cluster ? config.cluster->keys.back() : "")),
          windows(config.limits.body_windows),
          store(config.cache.memory, hooks.changed),
          access_log(config.log) {}

    const Hooks hooks;
    const summary::KeyHasher key_hasher;
    const protocol::FieldKey field_key;  // without a cluster of no use
    MemoryBudget windows;  // of what passes through without being stored (limits.body_windows)
    Store store;
    AccessLog access_log;
    SeenOnce seen_once;
    std::atomic<bool> draining{false};
    std::atomic<std::uint64_t> connections{0};
    Crowd crowd;
    /// What the limit of open files leaves to clients: half, so that each can be served from
    /// upstream.
    const std::uint64_t connections_possible = descriptor_limit() / 2;
    Episode crowded;  // new connections are refused
};

/// One thread's world: its io_context, listening socket, connections and counters. Objects in it
/// need no lock; to reach it from another thread, post to `io`.
class Worker {
public:
    /// `acceptor_fd`: a listening socket, which the worker owns from here on.
    Worker(Shared& shared, std::shared_ptr<const Config> config, int acceptor_fd);
    ~Worker();

    /// One more listening socket, for TLS. Before start().
    void listen_tls(int acceptor_fd);
    /// Starts to accept. Call before run().
    void start();
    /// Runs until stop() or until nothing is left to do after drain().
    void run() {
        io.run();
        finished.store(true, std::memory_order_release);
    }

    // On the worker's own thread (post to io).
    std::uint16_t port() const {
        return listeners_.front().acceptor.local_endpoint().port();
    }  // before start()

    /// Goes on accepting; from here on connections end after the answer to their next request.
    void retire();
    /// Takes what is in the accept queue, then accepts no more; connections end after their present
    /// request.
    void drain();
    /// Cancels everything.
    void stop();
    void set_peers(std::shared_ptr<const protocol::PeerView> view);
    /// What is known from asking this peer; null when there is no such peer (any more).
    PeerRecord* record_of(std::string_view node);
    /// The same, or the one record of all that are no peers any more.
    PeerRecord& record_or_gone(std::string_view node);

    /// What is stored under these target URIs (as CacheKey has them) no longer counts, here and at
    /// all peers. Fetches of them that are under way are not stored.
    void invalidate(std::span<const std::string_view> uris);
    /// The same for all that carries one of these tags.
    void invalidate_tags(std::span<const summary::KeyHash> tags);

    /// From here on this is in effect: new turns and connections see it.
    void set_config(std::shared_ptr<const Config> config) { settings = std::move(config); }

    /// What is in effect now. A reload replaces it: keep no reference to it over a wait, but a copy
    /// of `settings`.
    const Config& config() const { return *settings; }
    HeadLimits head_limits() const;

    Shared& shared;
    std::shared_ptr<const Config> settings;
    boost::asio::io_context io{1};
    TimerWheel wheel;
    protocol::Resolver resolver;
    UpstreamPool pool;
    OriginHealth origin_health;
    OriginTimes origin_times;
    protocol::TaskGroup tasks;    // client connections; takes no new ones while draining
    protocol::TaskGroup fetches;  // may outlive the client that began them
    std::shared_ptr<const protocol::PeerView> peers;  // null: no cluster
    std::vector<PeerRecord> peer_records;             // index as in peers
    PeerRecord gone_peers;                            // what those counted that are none any more
    WorkerCounters counters;
    RateLimitedLog upstream_log;  // origins and peers that fail
    bool retiring = false;        // connections end with their next answer
    bool draining = false;
    std::atomic<bool> finished{false};  // run() has returned: members may be read by any thread

    /// A connected client whose connection ends early when the worker drains.
    class Session : public TimerWheel::Timer {
    public:
        virtual void retire() = 0;
        virtual void drain() = 0;

    private:
        friend class Worker;
        std::size_t index_ = 0;
    };
    void add(Session& session);
    void remove(Session& session);

private:
    struct Listener {
        boost::asio::ip::tcp::acceptor acceptor;
        Scheme scheme;
    };
    void listen(int acceptor_fd, Scheme scheme);
    boost::asio::awaitable<void> accept_loop(Listener& listener);
    void admit(boost::asio::ip::tcp::socket socket, Scheme scheme);
    void refuse_waiting(boost::asio::ip::tcp::acceptor& acceptor);

    std::list<Listener> listeners_;  // the first one is in the clear
    std::vector<Session*> sessions_;
    int spare_ = -1;  // a descriptor to refuse connections with when no other is left
};

}  // namespace proxy
