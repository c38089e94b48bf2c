#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <memory>

#include "proxy/cache/cache.hpp"
#include "proxy/client/acceptor.hpp"
#include "proxy/client/frontend.hpp"
#include "proxy/config/config.hpp"
#include "proxy/net/timer_wheel.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/upstream/peer_probe.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// All that one worker thread owns: its io_context, and what upstream/, cache/ and client/ need for
/// one thread. None of it is locked; to reach it from another thread, post to `io`.
class Worker {
public:
    /// `acceptor_fd`: a listening socket, which the worker owns from here on.
    Worker(SharedCache& shared_cache, SharedFrontend& shared_frontend,
           std::shared_ptr<const Config> config, int acceptor_fd);

    /// Starts to accept. Call before run().
    void start() { acceptor.start(); }
    /// Runs until stop() or until nothing is left to do after drain().
    void run() {
        frontend.shared.faults.run(io, "worker");
        finished.store(true, std::memory_order_release);
    }

    // On the worker's own thread (post to io).
    void retire() { frontend.retire(); }
    /// Connections end after their present request; then fetches do.
    void drain();
    /// Cancels everything.
    void stop();
    void set_peers(std::shared_ptr<const protocol::PeerView> view, bool probes) {
        upstream.set_peers(std::move(view));
        if (probes) probe_newcomers(upstream);
    }
    /// From here on this is in effect: new requests and connections see it.
    void set_config(std::shared_ptr<const Config> config) { settings = std::move(config); }

    std::shared_ptr<const Config> settings;
    boost::asio::io_context io{1};
    TimerWheel wheel{io.get_executor()};
    WorkerCounters counters;
    Upstream upstream;
    Cache cache;
    Frontend frontend;
    Acceptor acceptor;
    std::atomic<bool> finished{false};  // run() has returned: members may be read by any thread
};

}  // namespace proxy
