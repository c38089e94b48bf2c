#include "proxy/fetch/explain.hpp"

#include <utility>
#include <vector>

#include "proxy/access/intercepted.hpp"
#include "proxy/access/judge_destination.hpp"
#include "proxy/blocklists/blocklists.hpp"
#include "proxy/fetch/explain_plan.hpp"
#include "proxy/fetch/meeting_plan.hpp"
#include "proxy/fetch/renewal.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/upstream/peer_head_request.hpp"
#include "proxy/upstream/peer_request_head.hpp"
#include "proxy/upstream/shown_url.hpp"
#include "proxy/upstream/site.hpp"
#include "summary/directory/directory.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr int kMaxReads = 3;  // others may write and purge meanwhile

/// The responses of peers, by number. Outlives the coroutine that waits for it.
struct PeerHeadResults {
    PeerHeadResults(const asio::any_io_executor& executor, std::size_t peers)
        : wakeup(std::make_shared<base::Wakeup>(executor)), has(peers) {}

    const std::shared_ptr<base::Wakeup> wakeup;
    std::vector<std::string_view> has;
    std::size_t open = 0;
};

asio::awaitable<void> look(Upstream& upstream, PeerOfView peer, std::string text,
                           std::shared_ptr<PeerHeadResults> looks) {
    const auto index = peer.index;
    const auto has =
        co_await send_peer_head_request(upstream, std::move(peer), std::move(text), kLookAtPeers);
    looks->has[index] = to_string(has);
    --looks->open;
    looks->wakeup->notify();
}

/// What is explained.
struct ExplainTarget {
    std::shared_ptr<const LoadedConfig> config;
    CacheKey key;
    Site site = {};  // may view `key`
    summary::KeyHash hash = {};
    Clock::time_point now = Clock::now();
};

void explain_rule(const ExplainTarget& of, Explanation& out) {
    const auto& policy = of.site.policy;
    std::string scratch;
    out.url = shown_url(of.key, policy, scratch);
    if (policy.rule) out.rule.name = policy.rule->name;
    out.rule.follow_redirects = policy.follows_redirects();
    out.rule.authorize = policy.authorizes_each();
    if (!policy.mirror) return;
    out.mirror.url = policy.mirror->here_text;
    out.mirror.url_at_origin = shown_url_at_origin(of.key, policy, false);
}

void explain_stored(Cache& cache, const ExplainTarget& of, Explanation& out) {
    const auto now = Clock::now();
    const auto found = cache.shared.store.find(of.hash, of.key.uri(), {}, now);
    auto& store = out.store;
    if (found.response) {
        const auto& stored = *found.response;
        const auto residence = stored.residence(now);
        store.here = is_fresh(stored.freshness, residence) ? "fresh" : "stale";
        store.ttl = time_to_live(stored.freshness, residence);
        out.mirror.rewritten = stored.by_rule_alone && !out.mirror.url.empty();
        store.stored = {stored.freshness.initial_age + residence, stored.freshness.lifetime,
                        stored.body_bytes(), stored.blocks ? stored.blocks->block_bytes : 0};
        if (const auto news = news_of(cache.shared, of.hash, of.key.uri(), stored, now))
            out.one_fetch.renewed_by = news->node;
    } else if (found.on_disk) {
        store.here = "disk";
    } else if (found.fill) {
        store.here = "filling";
    } else if (found.other_variants) {
        store.here = "variant";
    }
    store.variants = cache.shared.store.variants(of.hash, of.key.uri());
    if (const auto note = cache.shared.recent_verdicts.find(of.hash))
        store.not_stored = {to_string(note->verdict),
                            std::chrono::duration_cast<std::chrono::seconds>(now - note->at)};
}

/// Notes nothing: a look is no request.
void explain_age(Cache& cache, const ExplainTarget& of, Explanation& out) {
    if (!may_judge_age(of.site.policy.rule)) return;
    const auto& rule = *of.site.policy.rule;
    const auto found = cache.shared.store.find(of.hash, of.key.uri(), {}, Clock::now());
    if (!found.response) return;
    const auto& stored = *found.response;
    const auto fields = stored.fields();
    const auto now = wall_now();
    const auto seen =
        cache.shared.first_sights.find({rule, of.key.uri(), stored.status, fields}, now);
    const auto why = why_too_young(rule, stored.status, fields, now, seen);
    if (why || rule.min_age) out.rule.min_age = why.value_or("passes");
    if (seen) out.rule.first_seen = rfc3339(*seen);
}

/// A site of the configuration is no forward target.
void explain_blocklists(const Blocklists* lists, const ExplainTarget& of,
                        Explanation::Access& out) {
    if (!lists || of.site.of_entry()) return;
    const auto listed = lists->find(of.key.host(), of.key.path());
    const auto& entry = listed.refused ? listed.refused : listed.logged;
    if (!listed.refused && listed.unreadable > 0) {
        out.blocklist = "the sorted file cannot be read: " + listed.error.message();
        out.blocklist_action =
            to_string(lists->any_refuses() ? BlocklistAction::refuse : BlocklistAction::log);
        return;
    }
    if (!entry) return;
    out.blocklist = lists->place(*entry);
    out.blocklist_action =
        to_string(listed.refused ? BlocklistAction::refuse : BlocklistAction::log);
}

/// The refusal that comes before all content.
std::string_view refusal_of(const Site& site, const Explanation::Access& known) {
    if (site.none == SiteRefusal::two_readings)
        return "404 (origins: the path has several readings)";
    if (site.none) return "403 (forward.enabled, origins)";
    if (known.blocklist_action == to_string(BlocklistAction::refuse))
        return "403 (forward.blocklists)";
    return known.destination.empty() ? "" : "403 (forward.destinations)";
}

void explain_access(const Blocklists* lists, const ExplainTarget& of, Explanation::Access& out) {
    const auto& forward = of.config->forward;
    const auto& key = of.key;
    explain_blocklists(lists, of, out);
    if (!of.site.of_entry() && !of.site.none)
        out.destination = why_not_destination(forward.destinations, key.host(), key.port());
    const auto* const pattern = key.scheme() == Scheme::https
                                    ? intercepting_pattern(forward, key.host(), key.port())
                                    : nullptr;
    if (pattern) out.intercepted = pattern->text;
    out.refused = refusal_of(of.site, out);
}

/// The refusal of a forward target for its addresses.
std::string_view target_refusal(FetchError error) {
    if (error == FetchError::own_listener) return "403 (this node or a peer listens there)";
    return error == FetchError::not_allowed ? "403 (forward.private_destinations)" : "";
}

/// Reads the disk's copy: only its own tags show a purge, and only its head shows its freshness. If
/// that takes too long, or is too much, the copy counts as there.
asio::awaitable<void> read_from_disk(Cache& cache, const CacheKey& key, summary::KeyHash hash) {
    const auto wakeup = std::make_shared<base::Wakeup>(cache.upstream.executor);
    const auto deadline = Clock::now() + kRecallAtMost;
    for (int rounds = 0; rounds < kMaxReads; ++rounds) {
        if (!cache.shared.store.find(hash, key.uri(), {}, Clock::now()).on_disk) co_return;
        const auto recalled = cache.shared.store.recall(hash, key.uri(), wakeup);
        if (recalled == Store::Recall::refused) co_return;
        if (recalled == Store::Recall::done) continue;
        const auto in_time = co_await wakeup->wait_until(deadline);
        if (!in_time) co_return;
    }
}

/// All peers whose number is in use.
std::vector<std::size_t> numbers_of(const protocol::PeerView& view, const summary::PeerSet& first) {
    std::vector<std::size_t> numbers;
    for (const auto promises : {true, false})
        for (std::size_t i = 0; i < view.peers.size(); ++i)
            if (!view.peers[i].node.empty() && first.contains(static_cast<unsigned>(i)) == promises)
                numbers.push_back(i);
    return numbers;
}

/// Sends a HEAD request for `key` to the first kPeersLookedAt of these peers.
std::shared_ptr<PeerHeadResults> start_looks(Cache& cache, const CacheKey& key,
                                             const std::shared_ptr<const protocol::PeerView>& view,
                                             const std::vector<std::size_t>& numbers,
                                             bool only_encrypted, KeptSite site) {
    auto& upstream = cache.upstream;
    const RequestSnapshot snapshot(Head(), key, true, std::move(site));
    const PeerRequestHead head(snapshot, RequestDirectives(), cache.shared.field_key, {});
    const auto looks = std::make_shared<PeerHeadResults>(upstream.executor, view->peers.size());
    for (const auto number : numbers) {
        const auto& peer = view->peers[number];
        if (looks->open >= kPeersLookedAt) break;
        if (!may_get_request(peer, only_encrypted)) continue;
        auto text = head.text(upstream.config().node, peer.token, std::nullopt, {}, "HEAD");
        auto task = look(upstream, PeerOfView{view, number}, std::move(text), looks);
        // The peer may have answered before spawn() returns.
        looks->has[number] = to_string(PeerHeadResult::unknown);
        ++looks->open;
        if (upstream.fetches.spawn(std::move(task))) continue;
        looks->has[number] = {};
        --looks->open;
    }
    return looks;
}

/// Returns the time of the origin's answers.
asio::awaitable<RoundTrip> explain_origin(Cache& cache, const ExplainTarget& of, Explanation& out) {
    auto& upstream = cache.upstream;
    auto target = target_of(*of.config, of.site, of.key);
    if (!target) co_return RoundTrip();
    const auto times = upstream.origin_times.of(connection_key(*target));
    out.origin.place = place_text(*target);
    out.origin.site = target->site;
    if (target->group)
        out.origin.servers =
            upstream.shared.groups.candidates(target->group, target->spread, of.now);
    out.origin.time = times.mean();
    if (!target->group)
        out.origin.addresses =
            co_await upstream.pool.addresses_of(*target, of.now + kLookAtPeers / 2);
    if (out.access.refused.empty()) {
        const auto judged =
            co_await upstream.pool.judge(std::move(*target), of.now + kLookAtPeers / 2);
        out.access.target_refused = target_refusal(judged);
    }
    co_return times;
}

/// What the choice of a miss decides about one peer.
struct ChosenPeer {
    std::size_t number;
    PeerSelection why;
    std::size_t turn;
    RoundTrip round_trip;
};

ChosenPeer chosen_peer(std::size_t number, PeerSelection why, const PeerTurns& turns,
                       const PeerRecord& record) {
    std::size_t at = 0;
    for (std::size_t turn = 0; turn < turns.count; ++turn)
        if (turns.turns[turn].peer == number) at = turn + 1;
    return {number, why, at, record.round_trip()};
}

asio::awaitable<void> explain_peers(Cache& cache, const ExplainTarget& of, RoundTrip origin,
                                    Explanation& out) {
    const auto& upstream = cache.upstream;
    const auto view = upstream.peers.view();
    if (!view) co_return;
    const auto& cluster = *of.config->cluster;
    const auto promised =
        view->directory ? view->directory->candidates({of.hash, of.key.uri()}) : summary::PeerSet();
    const auto invalidated_at = cache.shared.store.invalidated_at(of.hash, of.key.uri());
    const auto invalidated =
        invalidated_at ? SinceInvalidation(of.now - *invalidated_at) : std::nullopt;
    const PeerFacts known{
        view->peers, upstream.peers.all(),     of.config->constants.peers,      origin,
        of.now,      upstream.peers.denying(), stays_encrypted(cluster, of.key)};
    const auto turns = whom_to_ask(promised, {}, invalidated, known);
    out.store.just_invalidated = is_just_invalidated(invalidated);
    out.beside_the_origin = turns.beside_the_origin;

    const auto& self = of.config->node;
    const auto point = meeting_point(of.hash, self, view->peers, upstream.peers.all(),
                                     known.only_encrypted, of.now);
    out.one_fetch.meeting_point = point.peer ? view->peers[*point.peer].node : self;
    if (!point.peer) out.one_fetch.fetcher = cache.shared.cooperation.fetchers.of(of.hash, of.now);

    const auto numbers = numbers_of(*view, promised);
    const auto looks = start_looks(cache, of.key, view, numbers, known.only_encrypted,
                                   keep_site(of.config, of.site, of.key));
    std::vector<ChosenPeer> chosen;
    for (const auto number : numbers)
        chosen.push_back(chosen_peer(number,
                                     why_chosen(number, promised, turns, invalidated, known), turns,
                                     upstream.peers.all()[number]));
    // The records may be others after this.
    const auto deadline = of.now + kLookAtPeers;
    auto in_time = true;
    while (looks->open > 0 && in_time) in_time = co_await looks->wakeup->wait_until(deadline);
    for (const auto& each : chosen)
        out.peers.push_back(
            {view->peers[each.number].node, promised.contains(static_cast<unsigned>(each.number)),
             looks->has[each.number], to_string(each.why), each.turn, each.round_trip.mean()});
}

}  // namespace

asio::awaitable<Explanation> explain(Cache& cache, CacheKey key) {
    ExplainTarget of{cache.upstream.settings.share(), std::move(key)};
    of.site = choose_site(*of.config, of.key, true);
    choose_rule(*of.config, "GET", of.key, of.site.policy);
    of.hash = cache.shared.key_hasher(of.key.uri());
    Explanation out;
    explain_rule(of, out);
    co_await read_from_disk(cache, of.key, of.hash);
    explain_stored(cache, of, out);
    explain_age(cache, of, out);
    explain_access(cache.upstream.settings.files().blocklists.get(), of, out.access);
    const auto origin = co_await explain_origin(cache, of, out);
    co_await explain_peers(cache, of, origin, out);
    co_return out;
}

}  // namespace proxy
