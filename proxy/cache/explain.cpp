#include "proxy/cache/explain.hpp"

#include <utility>
#include <vector>

#include "proxy/access/intercepted.hpp"
#include "proxy/access/judge_destination.hpp"
#include "proxy/blocklists/blocklists.hpp"
#include "proxy/cache/explain_plan.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/net/wall_clock.hpp"
#include "proxy/upstream/peer_head_request.hpp"
#include "proxy/upstream/peer_request_head.hpp"
#include "proxy/upstream/shown_url.hpp"
#include "proxy/upstream/site.hpp"
#include "summary/directory.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr int kMaxReads = 3;  // others may write and purge meanwhile

/// The responses of peers, by number. Outlives the coroutine that waits for it.
struct Looks {
    Looks(const asio::any_io_executor& executor, std::size_t peers)
        : wakeup(std::make_shared<Wakeup>(executor)), has(peers) {}

    const std::shared_ptr<Wakeup> wakeup;
    std::vector<std::string_view> has;
    std::size_t open = 0;
};

asio::awaitable<void> look(Upstream& upstream, PeerOfView peer, std::string text,
                           std::shared_ptr<Looks> looks) {
    const auto index = peer.index;
    const auto has =
        co_await send_peer_head_request(upstream, std::move(peer), std::move(text), kLookAtPeers);
    looks->has[index] = to_string(has);
    --looks->open;
    looks->wakeup->notify();
}

void explain_stored(Cache& cache, const CacheKey& key, summary::KeyHash hash, Clock::time_point now,
                    Explanation& out) {
    const auto found = cache.look_up(hash, key.uri(), {}, now);
    if (found.response) {
        const auto& stored = *found.response;
        const auto residence = stored.residence(now);
        out.here = is_fresh(stored.freshness, residence) ? "fresh" : "stale";
        out.ttl = time_to_live(stored.freshness, residence);
        out.rewritten = stored.by_rule_alone && !out.mirror.empty();
        out.stored = {stored.freshness.initial_age + residence, stored.freshness.lifetime,
                      stored.body_bytes(), stored.blocks ? stored.blocks->block_bytes : 0};
    } else if (found.on_disk) {
        out.here = "disk";
    } else if (found.fill) {
        out.here = "filling";
    } else if (found.other_variants) {
        out.here = "variant";
    }
    out.variants = cache.shared.store.variants(hash, key.uri());
    if (const auto note = cache.shared.unstored.find(hash))
        out.not_stored = {to_string(note->verdict),
                          std::chrono::duration_cast<std::chrono::seconds>(now - note->at)};
}

/// Notes nothing: a look is no request.
void explain_age(Cache& cache, const CacheKey& key, summary::KeyHash hash, const Rule& rule,
                 Explanation& out) {
    const auto found = cache.look_up(hash, key.uri(), {}, Clock::now());
    if (!may_judge_age(&rule) || !found.response) return;
    const auto& stored = *found.response;
    const auto fields = stored.fields();
    const auto now = wall_now();
    const auto seen = cache.shared.first_sights.find({rule, key.uri(), stored.status, fields}, now);
    const auto why = why_too_young(rule, stored.status, fields, now, seen);
    if (why || rule.min_age) out.min_age = why.value_or("passes");
    if (seen) out.first_seen = rfc3339(*seen);
}

/// A site of the configuration is no forward target.
void explain_blocklists(const Config& config, const CacheKey& key, const Site& site,
                        Explanation& out) {
    if (!config.blocklists || site.of_entry()) return;
    const auto listed = config.blocklists->find(key.host(), key.path());
    const auto& entry = listed.refused ? listed.refused : listed.logged;
    if (!listed.refused && listed.unreadable > 0) {
        out.blocklist = "the sorted file cannot be read: " + listed.error.message();
        out.blocklist_action = to_string(config.blocklists->any_refuses() ? BlocklistAction::refuse
                                                                          : BlocklistAction::log);
        return;
    }
    if (!entry) return;
    out.blocklist = config.blocklists->place(*entry);
    out.blocklist_action =
        to_string(listed.refused ? BlocklistAction::refuse : BlocklistAction::log);
}

/// The refusal that comes before all content.
std::string_view refusal_of(const Site& site, const Explanation& known) {
    if (site.none == NoSite::two_readings) return "404 (origins: the path has several readings)";
    if (site.none) return "403 (forward.enabled, origins)";
    if (known.blocklist_action == to_string(BlocklistAction::refuse))
        return "403 (forward.blocklists)";
    return known.destination.empty() ? "" : "403 (forward.destinations)";
}

/// The refusal of a forward target for its addresses.
std::string_view target_refusal(FetchError error) {
    if (error == FetchError::own_listener) return "403 (this node or a peer listens there)";
    return error == FetchError::not_allowed ? "403 (forward.private_destinations)" : "";
}

/// Reads the disk's copy: only its own tags show a purge, and only its head shows its freshness. If
/// that takes too long, or is too much, the copy counts as there.
asio::awaitable<void> read_from_disk(Cache& cache, const CacheKey& key, summary::KeyHash hash) {
    const auto wakeup = std::make_shared<Wakeup>(cache.upstream.executor);
    const auto deadline = Clock::now() + kRecallAtMost;
    for (int rounds = 0; rounds < kMaxReads; ++rounds) {
        if (!cache.look_up(hash, key.uri(), {}, Clock::now()).on_disk) co_return;
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
std::shared_ptr<Looks> start_looks(Cache& cache, const CacheKey& key,
                                   const std::shared_ptr<const protocol::PeerView>& view,
                                   const std::vector<std::size_t>& numbers, bool only_encrypted,
                                   KeptSite site) {
    auto& upstream = cache.upstream;
    const RequestSnapshot snapshot(Head(), key, true, std::move(site));
    const PeerRequestHead head(snapshot, RequestDirectives(), cache.shared.field_key);
    const auto looks = std::make_shared<Looks>(upstream.executor, view->peers.size());
    for (const auto number : numbers) {
        const auto& peer = view->peers[number];
        if (looks->open >= kPeersLookedAt) break;
        if (!may_get_request(peer, only_encrypted)) continue;
        auto text = head.text(upstream.config().node, peer.token, std::nullopt, {}, "HEAD");
        auto task = look(upstream, PeerOfView{view, number}, std::move(text), looks);
        // The peer may have answered before spawn() returns.
        looks->has[number] = to_string(PeerHas::unknown);
        ++looks->open;
        if (upstream.fetches.spawn(std::move(task))) continue;
        looks->has[number] = {};
        --looks->open;
    }
    return looks;
}

}  // namespace

asio::awaitable<Explanation> explain(Cache& cache, CacheKey key) {
    auto& upstream = cache.upstream;
    const auto config = upstream.settings.share();
    const auto now = Clock::now();
    auto site = choose_site(*config, key, true);
    choose_rule(*config, "GET", key, site.policy);
    const auto hash = cache.shared.key_hasher(key.uri());
    Explanation out;
    std::string scratch;
    out.url = shown_url(key, site.policy, scratch);
    if (site.policy.rule) out.rule = site.policy.rule->name;
    out.follow_redirects = site.policy.follows_redirects();
    out.authorize = site.policy.authorizes_each();
    if (const auto* const mirror = site.policy.mirror) {
        out.mirror = mirror->here_text;
        out.url_at_origin = shown_url_at_origin(key, site.policy, false);
    }
    co_await read_from_disk(cache, key, hash);
    explain_stored(cache, key, hash, Clock::now(), out);

    if (site.policy.rule) explain_age(cache, key, hash, *site.policy.rule, out);
    explain_blocklists(*config, key, site, out);
    if (!site.of_entry() && !site.none)
        out.destination = why_not_destination(config->forward.destinations, key.host(), key.port());
    const auto* const pattern = key.scheme() == Scheme::https
                                    ? intercepting_pattern(config->forward, key.host(), key.port())
                                    : nullptr;
    if (pattern) out.intercepted = pattern->text;
    out.refused = refusal_of(site, out);
    RoundTrip origin;
    if (const auto target = target_of(site, key)) {
        origin = upstream.origin_times.of(connection_key(*target));
        out.origin = place_text(*target);
        if (target->group)
            out.servers = upstream.groups.candidates(target->group, target->spread, now);
        out.origin_time = origin.mean();
        if (out.refused.empty()) {
            auto named = *target;
            const auto judged =
                co_await upstream.pool.judge(std::move(named), now + kLookAtPeers / 2);
            out.target_refused = target_refusal(judged);
        }
    }
    const auto view = upstream.peers.view();
    if (!view) co_return out;

    const auto promised =
        view->directory ? view->directory->candidates({hash, key.uri()}) : summary::PeerSet();
    const auto invalidated_at = cache.shared.store.invalidated_at(hash, key.uri());
    const auto invalidated =
        invalidated_at ? SinceInvalidation(now - *invalidated_at) : std::nullopt;
    const PeerFacts known{view->peers,
                          upstream.peers.all(),
                          *config->cluster,
                          origin,
                          now,
                          upstream.peers.denying(),
                          stays_encrypted(*config->cluster, key)};
    const auto turns = whom_to_ask(promised, {}, invalidated, known);
    out.just_invalidated = is_just_invalidated(invalidated);
    out.beside_the_origin = turns.beside_the_origin;

    const auto numbers = numbers_of(*view, promised);
    const auto looks =
        start_looks(cache, key, view, numbers, known.only_encrypted, keep_site(config, site, key));
    std::vector<std::pair<PeerChosen, RoundTrip>> chosen;
    for (const auto number : numbers)
        chosen.emplace_back(why_chosen(number, promised, turns, invalidated, known),
                            upstream.peers.all()[number].round_trip());
    // The records may be others after this.
    const auto deadline = now + kLookAtPeers;
    auto in_time = true;
    while (looks->open > 0 && in_time) in_time = co_await looks->wakeup->wait_until(deadline);

    for (std::size_t i = 0; i < numbers.size(); ++i) {
        auto& peer = out.peers.emplace_back();
        peer.node = view->peers[numbers[i]].node;
        peer.promises = promised.contains(static_cast<unsigned>(numbers[i]));
        peer.has = looks->has[numbers[i]];
        peer.choice = to_string(chosen[i].first);
        for (std::size_t turn = 0; turn < turns.count; ++turn)
            if (turns.turns[turn].peer == numbers[i]) peer.turn = turn + 1;
        peer.round_trip = chosen[i].second.mean();
    }
    co_return out;
}

}  // namespace proxy
