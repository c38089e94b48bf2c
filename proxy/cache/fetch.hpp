#pragma once

#include <memory>

namespace proxy {

struct Cache;
struct FetchJob;

/// Begins a fetch, which runs to its end: fills `job->result.fill`, stores what may be stored, and
/// tells the store in every case. Goes on when the client that began it leaves, as long as
/// Fill::wanted(). On a worker that is stopping the fill fails at once.
void start_fetch(Cache& cache, std::unique_ptr<FetchJob> job);

}  // namespace proxy
