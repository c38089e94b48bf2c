#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy::test {

/// The cache of a worker that never runs, and a job in it for http://h/a, of a node in a cluster.
/// It makes no connections, and says to each attempt that all of them are in use.
class IdleCache {
public:
    IdleCache() {
        key.assign(Scheme::http, boost::beast::http::verb::get, "http://h/a", {});
        job = std::make_unique<FetchJob>(cache, request(settings),
                                         summary::Key{hasher(key.uri()), key.uri()});
    }

    /// A GET of `key` under these settings.
    std::shared_ptr<const RequestSnapshot> request(
        std::shared_ptr<const LoadedConfig> config) const {
        const auto site = choose_site(*config, key, false);
        return std::make_shared<RequestSnapshot>(proxy::Head(), key, true,
                                                 keep_site(std::move(config), site, key));
    }
    /// The same without a site.
    std::shared_ptr<const RequestSnapshot> request_without_site() const {
        auto config = std::make_shared<LoadedConfig>(*settings);
        config->origins.clear();
        return request(std::move(config));
    }

    /// Stores a response to a GET of `uri`, good for a minute from `now` on, and
    /// for another while it is renewed.
    void put(std::string_view uri, std::string_view fields, std::string_view body,
             Store::Clock::time_point now, std::vector<summary::KeyHash> tags = {}) {
        auto response = std::make_shared<StoredResponse>();
        response->status = 200;
        response->head_fields = fields;
        response->arrival.steady = now;
        response->freshness.lifetime = StoredSeconds(60);
        response->freshness.stale_while_revalidate = StoredSeconds(60);
        response->tags = std::move(tags);
        response->body->add_block(body.size(), {});
        response->body->append(body);
        FillLease(shared.store, hasher(uri), uri, nullptr).publish(std::move(response), now);
    }
    /// The stored response of `uri` that answers a GET without fields.
    Store::Found find(std::string_view uri, Store::Clock::time_point now) const {
        return cache.shared.store.find(hasher(uri), uri, {}, now);
    }

    boost::asio::io_context io;
    const std::shared_ptr<const LoadedConfig> settings = [] {
        Config config;
        config.node = "a";
        config.origins = {{"h", {"h", 80}}};
        config.cluster.emplace().keys = {"key"};
        config.limits.upstream_connections = 0;
        return std::make_shared<LoadedConfig>(std::move(config));
    }();
    const summary::KeyHasher hasher{std::array<std::byte, summary::KeyHasher::kSecretBytes>{}};
    ConfigInEffect in_effect{settings};
    RecordedEvents events;
    SharedCache shared{*settings, hasher, events};
    base::TimerWheel wheel{io.get_executor()};
    WorkerCounters counters;
    Upstream upstream{io.get_executor(), wheel,           in_effect,
                      shared.windows,    shared.upstream, counters};
    Cache cache{shared, upstream};
    CacheKey key;
    std::unique_ptr<FetchJob> job;
};

}  // namespace proxy::test
