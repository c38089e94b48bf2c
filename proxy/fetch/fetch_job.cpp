#include "proxy/fetch/fetch_job.hpp"

#include <utility>

namespace proxy {

namespace {

std::shared_ptr<Fill> new_fill(const std::shared_ptr<base::Wakeup>& writer,
                               const RequestSnapshot& request) {
    auto fill = std::make_shared<Fill>(writer, kBodyWindow);
    fill->led_by(request.trace);
    return fill;
}

}  // namespace

FetchResult::FetchResult(Cache& cache, const RequestSnapshot& request, const summary::Key& key,
                         FillSlot slot)
    : wakeup(slot.writer ? std::move(slot.writer)
                         : std::make_shared<base::Wakeup>(cache.upstream.executor)),
      fill(slot.fill ? std::move(slot.fill) : new_fill(wakeup, request)),
      // A block of a body is the same for all requests for it.
      lease(cache.shared.store, key.hash, key.uri, fill,
            key.uri == request.key.uri() ? Fields(request.fields) : Fields()) {}

FetchJob::FetchJob(Cache& cache, std::shared_ptr<const RequestSnapshot> request,
                   const summary::Key& key, FillSlot slot)
    : wanted{std::move(request), {}, {}, {}, true},
      result(cache, *wanted.request, key, std::move(slot)) {}

BlocksOf blocks_of(const StoredMetadata& index, BodyVersion version) {
    return {*index.blocks, std::move(version), index.tags};
}

BlocksOf body_around(const WantedBlock& block) {
    return {{block.length, block.block_bytes}, block.version, block.tags};
}

std::unique_ptr<FetchJob> make_block_job(Cache& cache,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         const BlocksOf& body, std::uint64_t offset,
                                         FillSlot slot) {
    const auto& hasher = cache.shared.key_hasher;
    const auto range = body.blocks.at(offset);
    const auto target = hasher(request->key.uri());
    const auto uri = block_key(request->key.uri(), body.version.etag, body.version.form, range);
    auto job = std::make_unique<FetchJob>(cache, std::move(request), summary::Key{hasher(uri), uri},
                                          std::move(slot));
    job->wanted.block = WantedBlock{range,
                                    body.blocks.length,
                                    body.version,
                                    target,
                                    {body.tags.begin(), body.tags.end()},
                                    body.blocks.block_bytes};
    job->result.fill->keep();
    return job;
}

}  // namespace proxy
