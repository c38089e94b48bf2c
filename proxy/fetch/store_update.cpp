#include "proxy/fetch/store_update.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/async/sleep.hpp"
#include "proxy/fetch/storing.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;

/// The stored response again, but stale from now on. It may still stand in for an origin that is
/// in trouble, counted from now.
std::shared_ptr<StoredResponse> outdated(const StoredResponse& stored,
                                         Store::Clock::time_point now) {
    auto stale = made_stale(stored, now);
    stale->freshness.stale_while_revalidate = StoredSeconds(-1);
    return stale;
}

/// True if the response has this validator, or both have none.
bool repeats(const Head& answer, field name, std::string_view stored) {
    const auto* line = find(answer.fields, name);
    return stored.empty() ? line == nullptr : only_value(answer.fields, name) == stored;
}

std::span<const std::string> keys_of(const StoringRule* rule) {
    return rule ? std::span<const std::string>(rule->key_fields) : std::span<const std::string>();
}

/// True if the response says this of the body, or nothing.
bool does_not_contradict(const Head& answer, field name, std::string_view stored) {
    return !find(answer.fields, name) || only_value(answer.fields, name) == stored;
}

/// The request as a GET, for which another rule may be in force.
RequestSnapshot as_get(const RequestSnapshot& request) {
    auto site = request.kept;
    auto& policy = site.site.policy;
    policy.rule = request.config().rules.find("GET", request.key.host(), request.key.path());
    Head head;
    head.verb = verb::get;
    head.method = "GET";
    head.version = request.version;
    head.fields = request.fields;
    return RequestSnapshot(head, request.key, true, std::move(site));
}

}  // namespace

bool judge_anew(Cache& cache, summary::KeyHash hash, std::string_view uri,
                const StoredResponse& stored, const SitePolicy& policy,
                Store::Clock::time_point now) {
    const auto rules = policy.rules();
    const auto at = std::chrono::floor<std::chrono::seconds>(stored.arrival.wall);
    auto judged = freshness_of(stored.status, stored.fields(), at, at, rules);
    if (rules.rule) apply_rule(judged, *rules.rule, stored.status, false);
    auto next = outdated(stored, now);
    next->rule_mark = policy.mark();
    next->by_rule_alone = false;
    next->freshness.never_stale = judged.never_stale || stored.freshness.personal;
    next->freshness.always_validate = judged.always_validate || stored.freshness.personal;
    next->freshness.each_client = judged.each_client;
    next->freshness.stale_if_error = judged.stale_if_error;
    return charge(cache.shared.store, *next, uri, now) &&
           cache.shared.store.replace(hash, &stored, std::move(next), now, now) !=
               Store::Replaced::invalidated;
}

bool speaks_of(const Head& answer, const StoredResponse& stored, Fields fields,
               const StoringRule* rule) {
    const auto ours = validators_of(fields);
    return ours.any() && repeats(answer, field::etag, ours.etag) &&
           repeats(answer, field::last_modified, ours.last_modified) &&
           does_not_contradict(answer, field::content_length,
                               std::to_string(stored.body_bytes())) &&
           does_not_contradict(answer, field::content_type,
                               only_value(fields, field::content_type)) &&
           does_not_contradict(answer, field::content_language,
                               only_value(fields, field::content_language)) &&
           same_coding(answer.fields, fields) &&
           (!answer.get(field::vary) || (rule && rule->ignored.vary) ||
            selecting_names(vary_names(answer.fields), keys_of(rule)) == stored.vary_names);
}

HeadFreshening judge_head(const Head& answer, StorageVerdict verdict, const StoredResponse& stored,
                          Fields fields, const StoringRule* rule) {
    if (ends_stored(verdict, answer.status)) return HeadFreshening::ends;
    if (!speaks_of(answer, stored, fields, rule)) return HeadFreshening::outdates;
    const auto& freshness = stored.freshness;
    // A verdict because of this request alone says nothing about the stored response.
    const auto freshens = freshness.had_lifetime() && !freshness.always_validate &&
                          verdict != StorageVerdict::authorization &&
                          verdict != StorageVerdict::bypass;
    return freshens ? HeadFreshening::freshens : HeadFreshening::nothing;
}

void learn_from_head(Cache& cache, const RelayedExchange& relayed) {
    const auto& [storing, method, hash, answer, sent_at] = relayed;
    const auto& request = storing.request;
    auto& store = cache.shared.store;
    const auto uri = request.key.uri();
    if (answer.head.status != 200 || storing.directives.no_store) return;
    const auto now = answer.arrival.steady;
    const auto stored = cache.shared.store.find(hash, uri, request.fields, now).response;
    if (!stored || stored->status != 200) return;
    const auto fields = stored->fields();
    if (!source_of(fields).empty()) return;  // a HEAD is not followed to it
    const auto learned = judge_head(answer.head, candidate(storing, answer).verdict, *stored,
                                    fields, request.policy().rules().rule);
    if (learned == HeadFreshening::nothing) return;
    if (learned == HeadFreshening::ends) return void(cache.shared.store.invalidate(hash, now));
    std::shared_ptr<StoredResponse> next;
    if (learned == HeadFreshening::freshens) {
        auto fresh = refreshed(storing, *stored, fields, answer);
        if (!fresh.too_large && fresh.candidate.verdict == StorageVerdict::store)
            next = std::move(fresh.candidate.response);
    }
    if (!next) {
        next = outdated(*stored, now);
        cache.shared.cooperation.renewals.outdated(hash, now + base::slept());
    }
    const auto ended = !charge(store, *next, uri, now) ||
                       store.replace(hash, stored.get(), std::move(next), sent_at, now) ==
                           Store::Replaced::invalidated;
    if (ended) cache.shared.store.invalidate(hash, now);
}

UnsafeInvalidation invalidate_after(SharedCache& cache, const RuleTable& rules, const CacheKey& key,
                                    const Head& answer, Store::Clock::time_point now) {
    std::array<CacheKey, 2> named;
    std::vector<std::string_view> uris{key.uri()};
    for (const auto name : {field::location, field::content_location}) {
        const auto reference = answer.get(name);
        auto& target = named[uris.size() - 1];
        if (!reference || !resolve_same_origin(key, *reference, target)) continue;
        apply_key_rule(rules, target);
        uris.push_back(target.uri());
    }
    // RFC 9875, of the same origin.
    const auto groups = invalidated_groups(answer.fields, key.origin(), cache.key_hasher);
    auto what = cache.of(uris);
    what.tags = groups;
    const auto before = cache.store.disk_ends();
    cache.invalidate_everywhere(std::move(what), now);
    return {uris.size() + groups.size(), cache.store.disk_ends() != before};
}

bool may_have_taken_effect(FetchError error) {
    switch (error) {
        case FetchError::head_timeout:
        case FetchError::body_timeout:
        case FetchError::reset:
        case FetchError::malformed:
        case FetchError::abandoned:
        case FetchError::stopping:
            return true;
        default:
            return false;
    }
}

bool names_its_own_target(verb method, const RuleTable& rules, const Head& answer,
                          const CacheKey& key) {
    if (method != verb::post || answer.status != 200) return false;
    const auto location = answer.get(field::content_location);
    CacheKey named;
    if (!location || !resolve_same_origin(key, *location, named)) return false;
    apply_key_rule(rules, named);
    return named.uri() == key.uri();
}

KeptCopy::Copy::Copy(Cache& cache, const SitePolicy& policy, summary::KeyHash hash,
                     std::string_view uri)
    : fill(std::make_shared<Fill>(std::make_shared<base::Wakeup>(cache.upstream.executor), 0)),
      lease(cache.shared.store, hash, uri, fill),
      writer(cache.shared.store, cache.shared.windows, lease, *fill, object_max(policy)) {}

KeptCopy::KeptCopy(Cache& cache, const RelayedExchange& relayed,
                   std::optional<std::uint64_t> length, FieldBlock fields)
    : store_(cache.shared.store) {
    const auto& [storing, method, hash, answer, sent_at] = relayed;
    const auto& request = storing.request;
    if (request.policy().bypasses() ||
        !names_its_own_target(method, request.config().rules, answer.head, request.key))
        return;
    const auto get = as_get(request);
    auto made = candidate({storing.key_hasher, get, storing.directives}, answer);
    auto& response = made.response;
    response->head_fields = fields.text();
    const auto uri = request.key.uri();
    if (!response->freshness.is_explicit() || made.verdict != StorageVerdict::store ||
        !charge(store_, *response, uri, answer.arrival.steady))
        return;
    invalidations_ = store_.invalidations();
    if (store_.invalidated_at(hash, uri, response->tags) >= sent_at) return;
    copy_ = std::make_unique<Copy>(cache, get.policy(), hash, uri);
    Fill::Incoming kept;
    kept.response = std::move(response);
    kept.length = length.value_or(0);
    kept.length_known = length.has_value();
    copy_->writer.begin(std::move(kept), Sharing::stored, answer.arrival.steady);
}

void KeptCopy::has_invalidated(std::size_t count) {
    if (!copy_) return;
    const auto before = std::exchange(invalidations_, store_.invalidations());
    if (invalidations_ != before + count * Store::kNotesEach)
        copy_.reset();  // somebody else has, too
}

void KeptCopy::append(std::string_view piece, Clock::time_point now) {
    if (!copy_) return;
    copy_->writer.append_if_storing(piece, now);
    if (!copy_->writer.storing()) copy_.reset();
}

void KeptCopy::finish(Clock::time_point now) {
    if (!copy_) return;
    copy_->lease.stay_alone(invalidations_);
    copy_->writer.finish(now);
}

}  // namespace proxy
