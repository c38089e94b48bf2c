#include "proxy/fetch/fetch_peers.hpp"

#include <algorithm>
#include <utility>

#include "base/async/sleep.hpp"
#include "proxy/fetch/block_plan.hpp"
#include "proxy/fetch/renewal.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/storage/announceable.hpp"
#include "proxy/upstream/peer_head_request.hpp"
#include "summary/directory/directory.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

constexpr std::string_view kPart = " part";

/// Peers that have the target may have it in one piece, and this block with it.
summary::PeerSet may_have_whole(const FetchJob& job, const protocol::PeerView& view) {
    if (!job.wanted.block || job.from.of_run) return {};
    const auto& block = *job.wanted.block;
    auto candidates = view.directory->candidates({block.target, job.wanted.request->key.uri()});
    candidates -= peers_named(block.peers->in_parts, view);
    return candidates;
}

asio::awaitable<void> sample(Upstream& upstream, PeerOfView peer, std::string text) {
    const auto node = peer->node;
    const auto has =
        co_await send_peer_head_request(upstream, std::move(peer), std::move(text), kLatestHead);
    upstream.peers.samples().ended();
    if (has != PeerHeadResult::unknown)
        upstream.peers.note_denial(node, has == PeerHeadResult::has, true);
}

}  // namespace

PeerTurns FetchPeers::whom_to_ask(const protocol::PeerView& view, const RoundTrip& origin,
                                  Time now) const {
    ++cache_.upstream.counters.summary_lookups;
    const auto all = view.directory->candidates(job_.result.lease.key());
    job_.from.others_have = !all.empty();
    auto promised = job_.from.stale ? with_news(view, all, now) : all;
    auto perhaps = may_have_whole(job_, view) - promised;
    if (job_.wanted.block) {
        const auto slow = peers_named(job_.wanted.block->peers->slow, view);
        promised -= slow;
        perhaps -= slow;
    }
    // A block is where the index says, or in one piece with its target.
    const auto denying = job_.wanted.block ? summary::PeerSet() : cache_.upstream.peers.denying();
    if (promised.empty() && perhaps.empty() && denying.empty()) return {};
    auto& records = cache_.upstream.peers.all();
    const auto& config = job_.wanted.request->config();
    const PeerFacts known{view.peers,
                          records,
                          config.constants.peers,
                          origin,
                          now,
                          denying,
                          stays_encrypted(*config.cluster, job_.wanted.request->key),
                          job_.wanted.block ? job_.wanted.block->range.size() : 0};
    const auto whom = proxy::whom_to_ask(promised, perhaps, since_invalidation(now), known);
    if (whom.too_far) ++cache_.upstream.counters.peers_too_far;
    if (whom.count > 0 && promised.empty() && perhaps.empty())
        ++cache_.upstream.counters.summaries_overruled;
    if (whom.beside_the_origin) records[whom.turns[0].peer].measure_from(now);
    return whom;
}

/// Of the peers that announce what is stale here: the one that has told of news, and those that
/// tell of none, as earlier builds do. The copies of the others are as old as this one.
summary::PeerSet FetchPeers::with_news(const protocol::PeerView& view, const summary::PeerSet& all,
                                       Time now) const {
    const auto& lease = job_.result.lease;
    const auto& stale = *job_.from.stale;
    if (asks_all_) return all;
    if (has_survived_invalidation(cache_.shared.store, lease.hash(), lease.uri(), stale)) return {};
    if (cache_.shared.cooperation.renewals.shows_outdated(lease.hash(), stale.arrival.steady))
        return {};
    const auto stored_at = stale.arrival.steady - base::slept();
    if (!is_announceable(stale, stored_at)) return all;  // peers do not know of it
    const auto news = news_of(cache_.shared, lease.hash(), lease.uri(), stale, now);
    summary::PeerSet some;
    for (const auto peer : all)
        if (!view.peers[peer].renews || (news && view.peers[peer].node == news->node))
            some.insert(peer);
    return some;
}

std::string FetchPeers::request_text(std::string_view token, Time now, std::string_view also,
                                     std::string_view meet) {
    if (!prepare()) return {};
    std::string proof(token);
    proof.append(also);
    if (job_.wanted.part) proof.append(kPart);
    std::string lines;
    if (job_.wanted.block) {
        append_block_request(lines, *job_.wanted.block);
        lines.append(kFormField)
            .append(": ")
            .append(job_.wanted.block->version.form)
            .append("\r\n");
    }
    if (!meet.empty()) lines.append(kMeetField).append(": ").append(meet).append("\r\n");
    // Of a block the version says all.
    const auto max_age = job_.wanted.block ? std::nullopt : wanted_max_age(since_invalidation(now));
    return request_->text(job_.wanted.request->config().node, proof, max_age, lines);
}

bool FetchPeers::is_just_invalidated(Time now) const {
    return proxy::is_just_invalidated(since_invalidation(now));
}

bool FetchPeers::may_be_asked(const protocol::PeerView::Peer& peer) const {
    const auto& request = *job_.wanted.request;
    return may_get_request(peer, stays_encrypted(*request.config().cluster, request.key));
}

bool FetchPeers::is_known(const std::string& node) const {
    const auto& view = cache_.upstream.peers.view();
    return view && !peers_named({node}, *view).empty();
}

std::optional<PeerOfView> FetchPeers::peer_to_ask(const std::string& node) const {
    const auto& view = cache_.upstream.peers.view();
    if (!view) return std::nullopt;
    for (const auto number : peers_named({node}, *view))
        if (may_be_asked(view->peers[number])) return PeerOfView{view, number};
    return std::nullopt;
}

std::optional<PeerOfView> FetchPeers::peer_in_step(const std::string& node) const {
    const auto peer = peer_to_ask(node);
    return peer && (*peer)->in_sync ? peer : std::nullopt;
}

bool FetchPeers::is_left_alone(const std::string& node) const {
    const auto* const record = cache_.upstream.peers.of(node);
    return record == nullptr || !record->may_ask(Store::Clock::now());
}

RoundTrip FetchPeers::round_trip_to(const protocol::PeerView::Peer& peer) const {
    const auto* record = cache_.upstream.peers.of(peer.node);
    return record ? record->round_trip() : RoundTrip();
}

/// False: no peer can get this request.
bool FetchPeers::prepare() {
    if (!request_) {
        const auto& request = *job_.wanted.request;
        request_.emplace(request, job_.wanted.directives, cache_.shared.field_key,
                         cache_.shared.cooperation.varying_fields.of(request.key.authority()));
    }
    return request_->possible();
}

bool FetchPeers::learn_selecting_fields(const Head& refusal) {
    const auto names = vary_names(refusal.fields);
    if (names.empty() || names == kVaryAny) return false;
    cache_.shared.cooperation.varying_fields.note(job_.wanted.request->key.authority(), names);
    request_.reset();
    return !std::exchange(selects_better_, true);
}

void FetchPeers::show(PeerRequest& request) const {
    request.note_in(job_.from.peers_asked);
    request.belong_to(job_.wanted.request->trace);
}

void FetchPeers::learn_from(PeerAttempt& ended, bool of_use, const RoundTrip& origin,
                            Time now) const {
    auto& upstream = cache_.upstream;
    auto& request = ended.request;
    const auto& node = request.peer().node;
    const auto verdict = *ended.verdict;
    request.was_of_use(of_use, ended.alone, origin);
    if (verdict == PeerVerdict::false_hit)
        upstream.peers.note_false_hit(node, job_.result.lease.key(), now,
                                      job_.wanted.request->config().summary.announce.delay);
    if (ended.promised) return;
    if (!job_.wanted.block) {  // asked in spite of its summary's no
        if (verdict == PeerVerdict::hit || verdict == PeerVerdict::refused)
            upstream.peers.note_denial(node, of_use, false);
    } else if (!of_use) {
        job_.wanted.block->peers->in_parts.push_back(node);
    }
}

void FetchPeers::sample_misses(const std::shared_ptr<const protocol::PeerView>& view, Time now) {
    auto& upstream = cache_.upstream;
    // Peers may have an invalidated object without giving it. Blocks are mostly where their index
    // is.
    const auto& config = job_.wanted.request->config();
    if (job_.wanted.block ||
        !upstream.peers.samples().takes_next(config.constants.peers.misses_per_sample) ||
        since_invalidation(now))
        return;
    const auto promised = view->directory->candidates(job_.result.lease.key());
    const auto whom =
        upstream.peers.samples().whom(view->peers, upstream.peers.all(), promised, now);
    if (!whom || !may_be_asked(view->peers[*whom]) || !prepare()) return;
    auto text = request_->text(config.node, view->peers[*whom].token, std::nullopt, {}, "HEAD");
    upstream.peers.samples().begun();
    upstream.fetches.spawn(sample(upstream, PeerOfView{view, *whom}, std::move(text)));
}

PeerVerdict FetchPeers::judge(const Exchange& exchange, const StoreCandidate& made,
                              Time now) const {
    if (job_.wanted.block)
        return is_given(*job_.wanted.block, exchange.head(), exchange.content_length())
                   ? PeerVerdict::hit
                   : PeerVerdict::unusable;
    // A body without framing that broke off would look whole.
    if (!exchange.has_framing()) return PeerVerdict::unusable;
    const auto& copy = *made.response;
    return judge_copy(job_.wanted.directives, copy, made.verdict,
                      since_invalidation(now, copy.tags));
}

PeerVerdict FetchPeers::judge(const StoredMetadata& copy, Time now) const {
    return judge_copy(job_.wanted.directives, copy, since_invalidation(now, copy.tags));
}

PeerVerdict FetchPeers::judge_stand_in(const StoreCandidate& made, OriginTrouble trouble,
                                       Time now) const {
    const auto& copy = *made.response;
    if (!can_be_copy(copy, made.verdict)) return PeerVerdict::unusable;
    const auto may = !since_invalidation(now, copy.tags) &&
                     may_serve_stale(job_.wanted.directives, copy.freshness, copy.residence(now),
                                     trouble, job_.wanted.request->policy().rules());
    return may ? PeerVerdict::hit : PeerVerdict::too_old;
}

/// The time since the last invalidation of the content, or of something with one of these tags.
SinceInvalidation FetchPeers::since_invalidation(Time now,
                                                 std::span<const summary::KeyHash> tags) const {
    const auto& store = cache_.shared.store;
    auto at = store.invalidated_at(job_.result.lease.hash(), job_.result.lease.uri(), tags);
    if (job_.wanted.block)
        at = std::max(
            at, store.invalidated_at(job_.wanted.block->target, job_.wanted.request->key.uri()));
    return at ? SinceInvalidation(now - *at) : std::nullopt;
}

void append_block_request(std::string& lines, const WantedBlock& block) {
    append_range_request(lines, block.range.first, block.range.last, block.version.etag);
}

}  // namespace proxy
