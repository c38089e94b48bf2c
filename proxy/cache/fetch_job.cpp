#include "proxy/cache/fetch_job.hpp"

#include <utility>

namespace proxy {

FetchJob::FetchJob(Cache& cache, std::shared_ptr<const RequestSnapshot> asked, std::string_view uri,
                   summary::KeyHash hash, std::shared_ptr<Wakeup> writer,
                   std::shared_ptr<Fill> into)
    : request(std::move(asked)),
      wakeup(writer ? std::move(writer) : std::make_shared<Wakeup>(cache.upstream.executor)),
      fill(into ? std::move(into)
                : std::make_shared<Fill>(wakeup, request->config().limits.body_window)),
      // A block of a body is the same for all who ask for it.
      claim(cache.shared.store, hash, uri, fill,
            uri == request->key.uri() ? Fields(request->fields) : Fields()) {}

std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         const BlocksOf& body, std::uint64_t offset,
                                         std::shared_ptr<Wakeup> writer,
                                         std::shared_ptr<Fill> into) {
    const auto& hasher = cache.shared.key_hasher;
    const auto range = body.blocks.at(offset);
    const auto target = hasher(request->key.uri());
    const auto uri = block_key(request->key.uri(), body.version.etag, body.version.form, range);
    auto job = std::make_unique<FetchJob>(cache, std::move(request), uri, hasher(uri),
                                          std::move(writer), std::move(into));
    job->block = FetchJob::Block{
        range, body.blocks.length, body.version, target, {body.tags.begin(), body.tags.end()}};
    job->block->block_bytes = body.blocks.block_bytes;
    job->fill->keep();
    return job;
}

std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         const StoredMetadata& index, BodyVersion version,
                                         std::uint64_t offset) {
    return make_block_job(cache, std::move(request),
                          {*index.blocks, std::move(version), index.tags}, offset);
}

}  // namespace proxy
