#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/fetch/storing.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/hedged_fetch.hpp"
#include "proxy/upstream/peer_request_head.hpp"

namespace proxy {

/// The peers as one fetch sees them: gathers the facts for peer_request_plan.hpp and composes the
/// requests. Belongs to the coroutine that runs the fetch.
class FetchPeers {
public:
    using Time = Store::Clock::time_point;

    /// Both must outlive this.
    FetchPeers(Cache& cache, FetchJob& job) : cache_(cache), job_(job) {}

    /// Chooses the peers that get a request. `view`: the worker's present one, with a directory.
    /// `origin`: the origin's usual time. Counts peers that are too far, and notes in the job
    /// whether any announces the content.
    PeerTurns whom_to_ask(const protocol::PeerView& view, const RoundTrip& origin, Time now) const;

    /// The origin is in trouble: whom_to_ask() chooses among all peers that announce the content,
    /// and not only those that have told of news.
    void ask_all() { asks_all_ = true; }
    bool asks_all() const { return asks_all_; }

    /// No copy of a peer can prove to be younger than the last invalidation.
    bool is_just_invalidated(Time now) const;

    /// See may_get_request().
    bool may_be_asked(const protocol::PeerView::Peer& peer) const;
    /// A peer has this name, in whatever state.
    bool is_known(const std::string& node) const;
    /// The peer `node` as the worker sees it now; nothing: it may not be asked.
    std::optional<PeerOfView> peer_to_ask(const std::string& node) const;
    /// The same, if its summary is in step.
    std::optional<PeerOfView> peer_in_step(const std::string& node) const;
    /// The peer gets no request now, because it has failed or answered in vain too often, or is
    /// unknown.
    bool is_left_alone(const std::string& node) const;
    RoundTrip round_trip_to(const protocol::PeerView::Peer& peer) const;

    /// The head of the next peer request. `token` proves that this node is a peer. `also`, such as
    /// " stale", and the job itself add the options that the fetch accepts besides a whole reusable
    /// response. `meet`: a value of kMeetField; empty: none. Empty: no peer can get the request.
    std::string request_text(std::string_view token, Time now, std::string_view also = {},
                             std::string_view meet = {});

    /// A peer has refused with this head, because the request has no hash of a field that selects
    /// among its variants. The next request_text() has one. True once for each fetch: the peer may
    /// get that request.
    bool learn_selecting_fields(const Head& refusal);

    /// The request counts in the log and the trace of the client's request.
    void show(PeerRequest& request) const;

    /// Learns from a request that has ended: its gain in time, and what it shows of the peer's
    /// summary. `of_use`: it was the result. `origin`: the origin's usual time.
    void learn_from(PeerAttempt& ended, bool of_use, const RoundTrip& origin, Time now) const;
    /// Now and then sends a sample to a peer whose summary says no.
    void sample_misses(const std::shared_ptr<const protocol::PeerView>& view, Time now);

    /// `hit` for a response that ends the fetch; `made` is its draft.
    PeerVerdict judge(const Exchange& exchange, const StoreCandidate& made, Time now) const;
    PeerVerdict judge(const StoredMetadata& copy, Time now) const;
    /// `hit` for a stale copy of a peer that may stand in for an origin in this trouble. After an
    /// invalidation none may.
    PeerVerdict judge_stand_in(const StoreCandidate& made, OriginTrouble trouble, Time now) const;

private:
    bool prepare();
    summary::PeerSet with_news(const protocol::PeerView& view, const summary::PeerSet& all,
                               Time now) const;
    SinceInvalidation since_invalidation(Time now,
                                         std::span<const summary::KeyHash> tags = {}) const;

    Cache& cache_;
    FetchJob& job_;
    std::optional<PeerRequestHead> request_;  // once a peer gets one
    bool selects_better_ = false;             // since a refusal
    bool asks_all_ = false;
};

/// Appends the Range and If-Range of a block, for a peer or the origin.
void append_block_request(std::string& lines, const WantedBlock& block);

}  // namespace proxy
