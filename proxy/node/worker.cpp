#include "proxy/node/worker.hpp"

#include <boost/asio/co_spawn.hpp>

#include "proxy/telemetry/barrier_handler.hpp"
#include "proxy/upstream/upstream_prober.hpp"

namespace proxy {

namespace asio = boost::asio;

Worker::Worker(SharedCache& shared_cache, SharedClientState& shared_clients,
               const ConfigInEffect& config, int acceptor_fd)
    : settings(config.share(), config.files()),
      upstream(io.get_executor(), wheel, settings, shared_cache.windows, shared_cache.upstream,
               counters),
      cache{shared_cache, upstream},
      service(shared_clients, cache, settings),
      acceptor(service, io) {
    acceptor.listen(acceptor_fd, Scheme::http);
}

void Worker::check_upstreams() {
    upstream.probes.spawn(probe_upstreams(upstream, next_checks));
}

void Worker::drain() {
    if (service.connections.draining()) return;
    acceptor.drain();
    upstream.probes.cancel();
    upstream.pool.close_idle();
    asio::co_spawn(
        io,
        [](Worker& self) -> asio::awaitable<void> {
            co_await self.acceptor.wait();
            self.upstream.fetches.close();
            co_await self.upstream.fetches.wait();
            co_await self.upstream.probes.wait();
            self.wheel.stop();
            self.upstream.pool.close_idle();
        }(*this),
        kToTheWall);
}

void Worker::stop() {
    acceptor.stop();
    upstream.fetches.cancel();
    upstream.probes.cancel();
    wheel.stop();
    upstream.pool.close_idle();
}

}  // namespace proxy
