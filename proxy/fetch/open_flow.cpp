#include "proxy/fetch/open_flow.hpp"

#include <memory>
#include <utility>

#include "proxy/http/tags.hpp"

namespace proxy {
namespace {

summary::KeyHash version_of_flow(const Cache& cache, const FetchJob& job, const BlocksOf& body) {
    return cache.shared.key_hasher(flow_key(job.wanted.request->key.uri(), body.version.etag,
                                            body.version.form, body.blocks.block_bytes));
}

/// A flow of this node is to bring the block at `offset` of the body.
bool flow_ahead(const Cache& cache, const FetchJob& job, std::uint64_t offset) {
    const auto& shared = cache.shared;
    const auto version = version_of_flow(cache, job, body_around(*job.wanted.block));
    const auto flow = shared.flows.find(version, offset, job.wanted.request.get(), shared.store);
    return flow && flow->stage_of(offset) == BlockFlow::Stage::ahead;
}

}  // namespace

void open_flow(Cache& cache, FetchJob& job, const BlocksOf& body, ByteRange covered,
               bool storable) {
    if (job.progress.flow && job.progress.flow->get().brings(covered, storable)) return;
    job.progress.flow.reset();
    BlockFlow::Ownership owner{job.wanted.request,
                               storable,
                               {body.tags.begin(), body.tags.end()},
                               job.result.lease.invalidations()};
    const auto uri = job.wanted.request->key.uri();
    owner.names.push_back(cache.shared.key_hasher(uri));
    for (const auto& tag : prefix_tags_of(uri, cache.shared.key_hasher)) owner.names.push_back(tag);
    const auto version = version_of_flow(cache, job, body);
    auto flow = std::make_shared<BlockFlow>(body.blocks, covered, job.result.wakeup, kBodyWindow,
                                            std::move(owner));
    job.progress.flow.emplace(cache.shared.flows, version, std::move(flow));
}

bool open_flow_behind(Cache& cache, FetchJob& job) {
    const auto& block = job.wanted.block;
    if (!block || !job.from.of_run || block->up_to <= block->range.last) return false;
    if (!job.progress.flow && flow_ahead(cache, job, block->range.last + 1)) return false;
    open_flow(cache, job, body_around(*block), {block->range.last + 1, *block->up_to}, true);
    return true;
}

bool is_in_another_flow(const Cache& cache, const FetchJob& job) {
    return flow_ahead(cache, job, job.wanted.block->range.first);
}

}  // namespace proxy
