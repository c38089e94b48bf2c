#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/peer_request_plan.hpp"
#include "proxy/cache/storing.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/head_race.hpp"
#include "proxy/upstream/peer_request_head.hpp"

namespace proxy {

/// What one job has to do with the copies that peers hold: gathers what peer_request_plan.hpp
/// decides by. Belongs to the coroutine that runs the fetch.
class FetchPeers {
public:
    using Time = Store::Clock::time_point;

    /// Both must outlive this.
    FetchPeers(Cache& cache, const FetchJob& job) : cache_(cache), job_(job) {}

    /// `view`: the worker's present one, with a directory. `origin`: how long that takes. Counts
    /// peers that are too far.
    PeerTurns whom_to_ask(const protocol::PeerView& view, const RoundTrip& origin, Time now) const;

    /// The question as it goes out: with `token`, which proves that it is from a peer, and behind
    /// that what else than a whole body good for reuse will do: `also`, as " stale", and of the job
    /// itself. Empty: no peer can be asked.
    std::string request_text(std::string_view token, Time now, std::string_view also = {});

    /// A question has ended: what it was worth in time, and what it shows of the peer's summary.
    /// `of_use`: it brought the answer. `origin`: how long that usually takes.
    void learn_from(PeerRunner& ended, bool of_use, const RoundTrip& origin, Time now) const;
    /// Now and then asks a peer whose summary says no, beside all else.
    void sample_misses(const std::shared_ptr<const protocol::PeerView>& view, Time now);

    /// Will this answer do, of which `made` is the draft?
    bool is_acceptable(const Exchange& exchange, const Draft& made, Time now) const;
    bool is_current(const StoredMetadata& copy, Time now) const;

private:
    bool prepare();
    SinceInvalidation since_invalidation(Time now,
                                         std::span<const summary::KeyHash> tags = {}) const;

    Cache& cache_;
    const FetchJob& job_;
    std::optional<PeerRequestHead> request_;  // once a peer is asked
};

/// The question for a block, of a peer or of the origin.
void append_block_request(std::string& lines, const WantedBlock& block);

}  // namespace proxy
