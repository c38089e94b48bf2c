#pragma once

#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/fetch_job.hpp"

namespace proxy {

// How the requests of a node, and peers that follow it, learn that a fetch brings several blocks.

/// From here on readers find the `covered` blocks of `body` as a flow, and wait for them: those of
/// other requests only if it is `storable`. The flow of the job stays if it is the same. For a
/// request that is about to go out, too, as others would else send one of their own meanwhile.
/// Destroying `job.progress.flow` ends that.
void open_flow(Cache& cache, FetchJob& job, const BlocksOf& body, ByteRange covered, bool storable);

/// The same for the blocks behind the wanted one that this node alone may have to fetch. False:
/// there are none, or another fetch of this node brings them.
bool open_flow_behind(Cache& cache, FetchJob& job);
/// Another fetch of this node brings the wanted block, or is about to ask the origin for it.
bool is_in_another_flow(const Cache& cache, const FetchJob& job);

}  // namespace proxy
