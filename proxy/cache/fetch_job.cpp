#include "proxy/cache/fetch_job.hpp"

#include <utility>

namespace proxy {

FetchJob::FetchJob(Cache& cache, std::shared_ptr<const RequestSnapshot> asked,
                   std::shared_ptr<const Config> rules, std::string_view uri, summary::KeyHash hash)
    : request(std::move(asked)),
      config(std::move(rules)),
      wakeup(std::make_shared<Wakeup>(cache.upstream.executor)),
      fill(std::make_shared<Fill>(wakeup, config->limits.body_window)),
      // A block of a body is the same for all who ask for it.
      claim(cache.shared.store, hash, uri, fill,
            uri == request->key.uri() ? Fields(request->fields) : Fields()) {}

std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         std::shared_ptr<const Config> config,
                                         const OriginRoute& route, const StoredMetadata& index,
                                         BodyVersion version, std::uint64_t offset) {
    const auto& hasher = cache.shared.key_hasher;
    const auto range = index.blocks->at(offset);
    const auto target = hasher(request->key.uri());
    const auto uri = block_key(request->key.uri(), version.etag, version.form, range);
    auto job =
        std::make_unique<FetchJob>(cache, std::move(request), std::move(config), uri, hasher(uri));
    job->block =
        FetchJob::Block{range, index.blocks->length, std::move(version), target, index.tags};
    job->route = route;
    job->fill->keep();
    return job;
}

}  // namespace proxy
