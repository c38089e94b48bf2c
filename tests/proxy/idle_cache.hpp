#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <memory>

#include "proxy/cache/cache.hpp"
#include "proxy/cache/fetch_job.hpp"

namespace proxy::test {

/// The cache of a worker that never runs, and a job in it for http://h/a, of a node in a cluster.
/// Nothing is connected to.
class IdleCache {
public:
    IdleCache() {
        key.assign(Scheme::http, boost::beast::http::verb::get, "http://h/a", {});
        job =
            std::make_unique<FetchJob>(cache, std::make_shared<RequestSnapshot>(Head(), key, true),
                                       settings, key.uri(), hasher(key.uri()));
        job->route = UpstreamTarget{"h", 80};
    }

    boost::asio::io_context io;
    const std::shared_ptr<const Config> settings = [] {
        Config config;
        config.node = "a";
        config.cluster.emplace().keys = {"key"};
        return std::make_shared<Config>(std::move(config));
    }();
    const summary::KeyHasher hasher{std::array<std::byte, summary::KeyHasher::kSecretBytes>{}};
    SharedCache shared{*settings, hasher, {[](const summary::Key&, bool) {}, {}}};
    TimerWheel wheel{io.get_executor()};
    WorkerCounters counters;
    Upstream upstream{io.get_executor(), wheel, settings, shared.windows, counters};
    Cache cache{shared, upstream};
    CacheKey key;
    std::unique_ptr<FetchJob> job;
};

}  // namespace proxy::test
