#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/fetch/delivery.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/fetch_meeting.hpp"
#include "proxy/fetch/fetch_peers.hpp"
#include "proxy/fetch/origin_plan.hpp"
#include "proxy/fetch/request_additions.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/upstream/hedged_fetch.hpp"

namespace proxy {

/// The course of one fetch: asks peers, and the origin beside or after them, and gives the first
/// acceptable response to a Delivery. The plans decide (peer_request_plan.hpp, origin_plan.hpp);
/// this class sends, waits and carries out. Belongs to the coroutine that runs it, on one worker.
/// A cancelled coroutine ends the fill and the lease by way of the Delivery.
class Fetch {
public:
    /// Both must outlive this.
    Fetch(Cache& cache, FetchJob& job);
    Fetch(const Fetch&) = delete;
    Fetch& operator=(const Fetch&) = delete;
    /// An origin request that is still under way goes on without an owner.
    ~Fetch();

    /// Returns once the job's fill has ended.
    boost::asio::awaitable<void> run();

private:
    RoundTrip time_of_origin() const;
    OriginRequestKind what_to_ask_now(bool only_whole = false) const;
    bool can_ask_origin() const { return what_to_ask_now() != OriginRequestKind::impossible; }

    boost::asio::awaitable<bool> try_peers();
    bool start_peer(HedgedFetch& race, PeerRequestPlan& plan, const PeerTurns& whom,
                    const std::shared_ptr<const protocol::PeerView>& view);
    bool start_origin(HedgedFetch& race);
    boost::asio::awaitable<bool> take_peer(HedgedFetch& race, PeerRequestPlan& plan,
                                           PeerAttempt& attempt);
    boost::asio::awaitable<bool> take_hit(PeerRequest& asked,
                                          const std::function<void(bool)>& judged);
    bool may_meet() const { return !stale_copy_ && meeting_.is_possible(); }
    boost::asio::awaitable<bool> meet_after_head(Exchange& from_origin);
    boost::asio::awaitable<bool> take_all(PeerRequest& asked);
    void learn_first_sight(const Head& of_peer) const;
    void peer_won(HedgedFetch& race, const PeerAttempt& winner);
    bool take_head(PeerRequest& asked, const ReceivedHead& from, bool validated = false);

    std::shared_ptr<OriginAttempt> prepare_origin(OriginRequestKind kind);
    boost::asio::awaitable<void> ask_origin(bool only_whole = false);
    boost::asio::awaitable<void> probe_unattended(OriginAttempt& attempt, FetchError why);
    void note_pause(OriginAttempt& attempt, bool is_hidden);
    boost::asio::awaitable<void> take_origin(OriginStep step, const RequestAdditions& asked,
                                             Exchange& exchange);
    OriginMeaning meaning_of(const OriginAttempt& attempt, const RequestAdditions& asked) const;
    OriginHealth::Grant leave_after_pause();

    bool may_stand_in(OriginTrouble trouble) const;
    bool has_stand_in() const { return may_stand_in(OriginTrouble::unreachable); }
    void end_stored(StorageVerdict verdict, unsigned status, bool was_validation);
    bool renew_stored(const Exchange& not_modified, Fields stored);
    boost::asio::awaitable<void> fetch_validated(Exchange& not_modified);
    std::optional<OriginTrouble> trouble_in(const OriginMeaning& meaning, unsigned status) const;
    boost::asio::awaitable<bool> ask_peers_instead(OriginTrouble trouble, unsigned status);
    PeerPatience patience_for_copies() const;
    boost::asio::awaitable<PeerVerdict> ask_for_copy(PeerRequest& asked, std::string_view word);
    boost::asio::awaitable<bool> stand_in_by_peer(OriginTrouble trouble, unsigned status);
    boost::asio::awaitable<bool> fetch_copy(const StaleCopy& copy, Exchange& not_modified,
                                            PeerOfView peer);

    Cache& cache_;
    const LoadedConfig& config_;
    FetchJob& job_;
    Delivery delivery_;
    FetchPeers peers_;
    FetchMeeting meeting_;
    RoundTrip origin_usual_;                    // while peers are asked
    std::optional<OriginHealth::Grant> leave_;  // see leave_after_pause(); none: not decided
    std::optional<StaleCopy> stale_copy_;       // that a peer has
    RequestAdditions additions_;                // of origin_
    std::shared_ptr<OriginAttempt> origin_;     // prepared, or asked beside peers
};

/// Starts a coroutine that fetches and ends `job->result` in every case: the fill is complete or
/// has failed, and the lease has ended. The fetch goes on after its first client has left, as long
/// as Fill::wanted(). On a worker that is stopping the fill fails at once.
void start_fetch(Cache& cache, std::unique_ptr<FetchJob> job);

}  // namespace proxy
