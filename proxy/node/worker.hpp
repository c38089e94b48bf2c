#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "base/async/timer_wheel.hpp"
#include "proxy/client/acceptor.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/upstream/peer_probe.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// The objects of one worker thread: its io_context, and its parts of upstream/, cache/ and
/// client/. They have no locks; other threads post to `io`.
class Worker {
public:
    /// Takes over `acceptor_fd`, a listening socket.
    Worker(SharedCache& shared_cache, SharedClientState& shared_clients,
           const ConfigInEffect& config, int acceptor_fd);

    /// Starts to accept. Call it before run().
    void start() { acceptor.start(); }
    /// Also checks the servers of groups, for all workers. Call it before run().
    void check_upstreams();
    /// Runs until stop(), or until the last request ends after drain().
    void run() {
        service.shared.faults.run(io, "worker");
        finished.store(true, std::memory_order_release);
    }

    // On the worker's own thread (post to io).
    void retire() { service.connections.retire(); }
    /// Ends connections after their present request, and then fetches.
    void drain();
    /// Cancels connections, fetches and timers.
    void stop();
    void set_peers(std::shared_ptr<const protocol::PeerView> view, bool probes) {
        upstream.set_peers(std::move(view));
        if (probes) probe_newcomers(upstream, probe_turns);
    }
    /// Puts a configuration in effect for new requests and connections.
    void set_config(std::shared_ptr<const LoadedConfig> config, WatchedFiles files) {
        settings.replace(std::move(config), std::move(files));
        next_checks.cancel();
    }

    ConfigInEffect settings;
    // Its sockets are used by the worker's thread alone, so Asio takes no lock for each of their
    // operations. Other threads may post.
    boost::asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
    base::TimerWheel wheel{io.get_executor()};
    WorkerCounters counters;
    Upstream upstream;
    ProbeTurns probe_turns;
    boost::asio::steady_timer next_checks{io};  // of servers, in the worker with check_upstreams()
    Cache cache;
    ClientService service;
    Acceptor acceptor;
    std::atomic<bool> finished{false};  // run() has returned, and any thread may read the members
};

}  // namespace proxy
