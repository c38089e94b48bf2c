#include "proxy/cache/fetch_job.hpp"

#include <utility>

namespace proxy {

FetchJob::FetchJob(Cache& cache, std::shared_ptr<const RequestSnapshot> asked,
                   std::shared_ptr<const Config> rules)
    : request(std::move(asked)),
      config(std::move(rules)),
      uri(request->key.uri()),
      wakeup(std::make_shared<Wakeup>(cache.upstream.executor)),
      fill(std::make_shared<Fill>(wakeup, config->limits.body_window)) {}

std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         std::shared_ptr<const Config> config,
                                         const OriginRoute& route, const Blocks& blocks,
                                         std::string_view etag, std::uint64_t offset) {
    auto job = std::make_unique<FetchJob>(cache, std::move(request), std::move(config));
    const auto target = cache.shared.key_hasher(job->request->key.uri());
    job->block = FetchJob::Block{blocks.at(offset), blocks.length, std::string(etag), target};
    job->uri = block_key(job->request->key.uri(), etag, job->block->range);
    job->hash = cache.shared.key_hasher(job->uri);
    job->route = route;
    job->fill->keep();
    return job;
}

}  // namespace proxy
