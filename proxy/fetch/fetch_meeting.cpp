#include "proxy/fetch/fetch_meeting.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "proxy/fetch/meeting_plan.hpp"
#include "proxy/fetch/open_flow.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/upstream/hedged_fetch.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// How long a meeting point is waited for where a body, or its rest, would be fetched twice. Also
/// how long the node that it names is waited for while the origin's response is there.
constexpr std::chrono::seconds kMeetForLarge{1};

/// How long the next block of a run is waited for. A node whose connections fail is known sooner.
constexpr std::chrono::seconds kRunAtMost{20};

/// A stream that the origin has overtaken at so many peers may still follow another. One such peer
/// may have stopped; several give at a small bandwidth, so the next would, too.
constexpr std::size_t kSlowPeers = 1;

}  // namespace

FetchMeeting::FetchMeeting(Cache& cache, FetchJob& job, Delivery& delivery, FetchPeers& peers)
    : cache_(cache),
      config_(job.wanted.request->config()),
      job_(job),
      delivery_(delivery),
      peers_(peers) {}

bool FetchMeeting::is_possible() const {
    const auto& request = *job_.wanted.request;
    const auto& block = job_.wanted.block;
    return job_.result.lease.leads() && !job_.from.stale && !job_.wanted.part && request.origin() &&
           may_fetch_once(request) && (!block || may_meet_for(*block));
}

bool FetchMeeting::may_meet_for(const WantedBlock& block) const {
    return block.peers->slow.size() <= kSlowPeers && !peers_.is_just_invalidated(Clock::now());
}

asio::awaitable<bool> FetchMeeting::follow(Meeting meeting, TakeHit take) {
    const auto followed = co_await meet(std::move(meeting), {}, take);
    if (followed) co_return true;
    // The fetch of the body is far from this block. Nodes that want it meet for it.
    meets_for_block_ = job_.from.of_run && known_fetcher() != config_.node &&
                       !is_in_another_flow(cache_, job_);  // Fetch::run() leaves it to that
    if (!meets_for_block_) co_return false;
    auto for_block = find_meeting({});
    const auto came = co_await meet(std::move(for_block), {}, std::move(take));
    co_return came;
}

asio::awaitable<bool> FetchMeeting::follow_after_head(TakeHit take) {
    if (has_met_) co_return false;
    is_large_ = true;
    auto meeting = find_meeting({});
    const auto followed = co_await meet(std::move(meeting), {}, std::move(take));
    co_return followed;
}

void FetchMeeting::answered(const std::string& node) {
    std::erase(silent_, node);
}

/// The key for which nodes meet. Those that want blocks of one body meet for the body.
summary::KeyHash FetchMeeting::meeting_key() const {
    const auto& block = job_.wanted.block;
    if (!block) return job_.result.lease.hash();
    if (!meets_for_block_) return block->target;
    const auto& version = block->version;
    return cache_.shared.key_hasher(key_around(block->range.first, job_.wanted.request->key.uri(),
                                               version.etag, version.form, block->block_bytes));
}

std::string FetchMeeting::known_fetcher() const {
    const auto& block = job_.wanted.block;
    if (block && !meets_for_block_) {
        const auto& followed = block->peers->followed;
        if (!followed.empty() && peers_.peer_in_step(followed)) return followed;
    }
    return cache_.shared.cooperation.fetchers.of(meeting_key(), Clock::now());
}

bool FetchMeeting::is_fed_by_peer() const {
    if (!job_.from.of_run || job_.wanted.block->peers->followed.empty()) return false;
    const auto& node = job_.wanted.block->peers->followed;
    if (peers_.peer_in_step(node)) return !peers_.is_left_alone(node);
    return known_fetcher() != config_.node;
}

void FetchMeeting::note_fetcher(std::string_view node) const {
    if (node == config_.node || !peers_.peer_to_ask(std::string(node))) return;
    cache_.shared.cooperation.fetchers.note(meeting_key(), node, Clock::now());
}

/// That node gives what this request wants. A block may come from another node than the one that
/// fetches the body, so the note about that one stays.
void FetchMeeting::note_followed(const std::string& node) const {
    if (!job_.wanted.block) return note_fetcher(node);
    job_.wanted.block->peers->followed = node;
    if (peers_.peer_to_ask(node))
        cache_.shared.cooperation.fetchers.meet(meeting_key(), node, {}, Clock::now());
}

/// The node that fetched it gave nothing, and this one takes its place.
void FetchMeeting::note_own_fetch() const {
    if (job_.wanted.block) job_.wanted.block->peers->followed.clear();
    cache_.shared.cooperation.fetchers.note(meeting_key(), config_.node, Clock::now());
}

void FetchMeeting::await_rest_elsewhere() {
    delivery_.on_break_off([this](std::string node) { return find_rest(std::move(node)); });
}

/// Other fetches of this node wait meanwhile, because this one may have to ask the origin.
asio::awaitable<bool> FetchMeeting::find_rest(std::string node) {
    open_flow_behind(cache_, job_);
    TakeHit take = [this](PeerRequest& asked) {
        job_.progress.flow.reset();
        return take_rest(asked);
    };
    auto meeting = find_meeting(node);
    const auto found = co_await meet(std::move(meeting), std::move(node), std::move(take));
    co_return found;
}

asio::awaitable<bool> FetchMeeting::take_rest(PeerRequest& asked) {
    auto& exchange = asked.exchange();
    if (!delivery_.is_same_again(exchange)) {
        asked.close(PeerVerdict::unusable);
        co_return false;
    }
    const auto came = co_await delivery_.take_rest_of(exchange);
    const auto whole = came == FetchError::none;
    asked.close(whole ? PeerVerdict::hit : PeerVerdict::failure);
    if (whole) exchange.finish();
    co_return whole;
}

/// Finds the meeting point of the key. `failed`: a node that gave nothing; empty: none.
FetchMeeting::Meeting FetchMeeting::find_meeting(std::string_view failed) {
    auto& upstream = cache_.upstream;
    const auto& view = upstream.peers.view();
    if (!view) return {};
    const auto& request = *job_.wanted.request;
    const auto now = Clock::now();
    const auto key = meeting_key();
    if (job_.wanted.block && failed.empty()) {
        const auto known = known_fetcher();
        if (!known.empty() && known != config_.node) return {{}, known};
    }
    const auto point = meeting_point(key, config_.node, view->peers, upstream.peers.all(),
                                     stays_encrypted(*config_.cluster, request.key), now, failed);
    Meeting meeting;
    const auto& place = request.origin()->key;
    if (point.peer && is_large_ && is_silent(view->peers[*point.peer].node)) return {};
    if (point.peer) {
        auto& origin = upstream.origin_times.record(place);
        const MeetFacts known{request.policy().fetch_once(),
                              peers_.round_trip_to(view->peers[*point.peer]), origin.fetch};
        has_met_ = !failed.empty() || meets_for_block_ || is_large_ ||
                   pays_to_meet(known, origin.meetings);
        if (has_met_) meeting.to_ask = PeerOfView{view, *point.peer};
    } else {
        has_met_ = true;
        meeting.fetcher = cache_.shared.cooperation.fetchers.meet(key, config_.node, failed, now);
        if (!meeting.fetcher.empty()) upstream.origin_times.record(place).meetings.asked(true);
    }
    return meeting;
}

/// Asks who fetches the content, and takes it from there while it comes. False: this node fetches
/// it. A node that gives nothing is passed over once; after that, all go to the origin. `failed`:
/// the node that was passed over; empty: none.
asio::awaitable<bool> FetchMeeting::meet(Meeting meeting, std::string failed, TakeHit take) {
    const auto begins = job_.result.fill->coming() == nullptr;
    while (meeting.leads_anywhere()) {
        if (meeting.to_ask) {
            const auto answered = co_await ask_who_fetches(meeting, failed, take);
            if (answered) co_return true;
        }
        if (meeting.fetcher.empty()) {
            if (!failed.empty()) note_own_fetch();
            co_return false;
        }
        if (is_silent(meeting.fetcher)) co_return false;
        if (job_.wanted.block) job_.from.of_run = true;
        if (!failed.empty()) note_fetcher(meeting.fetcher);
        if (begins) job_.result.fill->expect(Fill::From::peer);
        const auto followed = co_await follow_node(meeting.fetcher, take);
        if (followed == Followed::answered) {
            ++cache_.upstream.counters.fetches_followed;
            co_return true;
        }
        if (begins) job_.result.fill->expect(Fill::From::origin);
        const auto is_last = followed == Followed::elsewhere || !failed.empty() ||
                             meets_for_block_ || is_large_;  // a client waits meanwhile
        if (is_last) co_return false;
        failed = std::move(meeting.fetcher);
        if (job_.wanted.block) {
            co_await let_block_before_ask(failed);
            if (is_in_another_flow(cache_, job_)) co_return false;
        }
        meeting = find_meeting(failed);
    }
    co_return false;
}

/// The block before may have begun to come from the same node. Its fetch is to notice that first,
/// because it asks the origin for its rest and this block at once (find_rest()).
asio::awaitable<void> FetchMeeting::let_block_before_ask(const std::string& failed) {
    constexpr std::chrono::milliseconds kLook{2}, kAtMost{100};
    const auto& block = *job_.wanted.block;
    if (block.range.first == 0) co_return;
    const Blocks blocks{block.length, block.block_bytes};
    const auto uri = block_key(job_.wanted.request->key.uri(), block.version.etag,
                               block.version.form, blocks.at(block.range.first - 1));
    auto& shared = cache_.shared;
    const auto found = shared.store.find(shared.key_hasher(uri), uri, {}, Clock::now());
    if (!found.fill) co_return;
    const auto comes_from_there = [&] {
        const auto state = found.fill->state();
        return state.phase == Fill::Phase::streaming && !state.incoming.fed_by_origin() &&
               state.incoming.peer == failed;
    };
    const auto until = Clock::now() + kAtMost;
    while (comes_from_there() && !is_in_another_flow(cache_, job_) && Clock::now() < until)
        co_await job_.result.wakeup->wait_until(Clock::now() + kLook);
}

/// Asks the meeting point and notes the name that it gives. True: it had the response itself, which
/// is the result of the fetch.
asio::awaitable<bool> FetchMeeting::ask_who_fetches(Meeting& meeting, std::string_view failed,
                                                    const TakeHit& take) {
    auto& upstream = cache_.upstream;
    const auto question = question_of(meets_for_block_, failed);
    const auto& peer = *meeting.to_ask;
    auto text = peers_.request_text(peer->token, Clock::now(), {}, question);
    if (text.empty()) co_return false;
    ++upstream.counters.meetings_asked;
    // More than a head is at stake: a busy node is waited for, before much is fetched twice. A
    // client whose response has come from the origin already waits for a short time only.
    const auto is_worth_more = job_.wanted.block || job_.result.fill->coming();
    const auto patience = is_worth_more ? time_for_large() : config_.constants.peers.meet_at_most;
    PeerRequest asked(upstream, peer, {patience, patience});
    peers_.show(asked);
    const auto verdict = co_await asked.send(std::move(text), false);
    if (verdict == PeerVerdict::hit) {  // stored there since its last announcement
        const auto taken = co_await take(asked);
        co_return taken;
    }
    if (verdict == PeerVerdict::failure || verdict == PeerVerdict::timeout) co_return false;
    const auto* named = find(asked.exchange().head().fields, kFetcherField);
    // This node may have lost it a moment ago. Then the meeting point is to name another one.
    if (named && peers_.is_known(std::string(named->value)))
        meeting.fetcher = std::string(named->value);
    const auto again =
        verdict == PeerVerdict::refused && peers_.learn_selecting_fields(asked.exchange().head());
    co_await asked.discard();
    if (again) {
        const auto answered = co_await ask_who_fetches(meeting, failed, take);
        co_return answered;
    }
    upstream.origin_times.record(job_.wanted.request->origin()->key)
        .meetings.asked(!meeting.fetcher.empty());
    co_return false;
}

/// The peer has left a request of this fetch without an answer.
bool FetchMeeting::is_silent(const std::string& node) const {
    return std::ranges::find(silent_, node) != silent_.end();
}

bool FetchMeeting::has_left(const std::string& node) const {
    if (!job_.wanted.block) return false;
    const auto& peers = *job_.wanted.block->peers;
    return peers.left == node || std::ranges::find(peers.slow, node) != peers.slow.end();
}

/// A run may be as slow as its origin, and is ahead of none of its readers. Where the origin has
/// responded here already, it is about to do so there.
std::chrono::nanoseconds FetchMeeting::time_to_follow() const {
    const auto at_most = config_.timeouts.origin_head;
    if (job_.wanted.block) return std::min<std::chrono::nanoseconds>(at_most, kRunAtMost);
    const auto& origin = job_.wanted.request->origin()->key;
    const auto usual = follow_at_most(cache_.upstream.origin_times.of(origin), at_most);
    return is_large_ ? std::min(usual, time_for_large()) : usual;
}

std::chrono::nanoseconds FetchMeeting::time_for_large() const {
    return std::max<std::chrono::nanoseconds>(config_.constants.peers.meet_at_most, kMeetForLarge);
}

/// Waits for the response of the node that fetches, as long as that node is in step.
asio::awaitable<FetchMeeting::Followed> FetchMeeting::follow_node(const std::string& node,
                                                                  const TakeHit& take) {
    constexpr std::chrono::milliseconds kLook{250};
    auto& upstream = cache_.upstream;
    const auto peer = peers_.peer_in_step(node);
    if (!peer || peers_.is_left_alone(node) || has_left(node)) co_return Followed::in_vain;
    auto text = peers_.request_text((*peer)->token, Clock::now(), {}, kFollow);
    const auto patience = time_to_follow();
    HedgedFetch race(upstream, job_.result.wakeup);
    auto attempt =
        std::make_shared<PeerAttempt>(upstream, *peer, PeerPatience{patience, patience}, false);
    attempt->request.waits_for_fetch();
    peers_.show(attempt->request);
    if (text.empty() || !race.start(attempt, std::move(text))) co_return Followed::elsewhere;
    while (race.take_ended() == nullptr) {
        if (!peers_.peer_in_step(node) || has_left(node)) co_return Followed::in_vain;
        co_await job_.result.wakeup->wait_until(Clock::now() + kLook);
    }
    if (*attempt->verdict == PeerVerdict::hit) {
        race.won_by(attempt.get());
        note_followed(node);
        await_rest_elsewhere();
        const auto* fetcher = find(attempt->request.exchange().head().fields, kFetcherField);
        job_.from.follows_run = job_.wanted.block && fetcher && fetcher->value == node;
        const auto taken = co_await take(attempt->request);
        job_.from.follows_run = false;
        co_return taken ? Followed::answered : Followed::elsewhere;
    }
    const auto& refusal = attempt->request.exchange().head();
    if (*attempt->verdict == PeerVerdict::refused && peers_.learn_selecting_fields(refusal)) {
        const auto followed = co_await follow_node(node, take);
        co_return followed;
    }
    // A node that lacks one block still fetches the others.
    const auto lacks_it = !job_.wanted.block && refusal_of(refusal.fields) == Refusal::absent;
    const auto is_gone = *attempt->verdict == PeerVerdict::failure ||
                         *attempt->verdict == PeerVerdict::timeout || lacks_it;
    co_return is_gone ? Followed::in_vain : Followed::elsewhere;
}

}  // namespace proxy
