#include "proxy/fetch/storing.hpp"

#include "proxy/http/credentials.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/rewrite/head_rewrite.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

/// True if the response would be stored for fewer clients, or not at all, without the rule. Such a
/// response ends with the rule.
bool needs_rule(const StoringRequest& storing, unsigned status, Fields fields,
                const ReceivedHead& from) {
    auto rules = storing.request.policy().rules();
    if (rules.rule->authorize || storing.request.key.has_other_query()) return true;
    if (!source_of(fields).empty()) return true;
    // The peer's client may have had other fields than this one.
    if (from.from_peer && (rules.rule->share_authorized || rules.rule->ignored.any())) return true;
    if (rules.rule->ignored.vary && !vary_names(fields).empty()) return true;
    rules.rule = nullptr;
    const auto said = response_directives(fields, rules);
    const auto freshness =
        freshness_of(status, fields, said, from.request_time, from.request_time, rules);
    const auto& request = storing.request.fields;
    const auto verdict = storage_verdict(request, storing.directives, status, fields, said,
                                         vary_names(fields), freshness, rules);
    return verdict != StorageVerdict::store || said.no_cache ||
           (!from.from_peer && may_be_personal(request, freshness, rules));
}

/// The verdict on what the redirects before a response left out of it.
StorageVerdict verdict_of(const Redirects& redirects, const CacheRules& rules) {
    if (redirects.why_left() != StorageVerdict::store) return redirects.why_left();
    const auto ignores_cookies = rules.rule && rules.rule->ignored.set_cookie;
    return redirects.dropped_cookies() && !ignores_cookies ? StorageVerdict::set_cookie
                                                           : StorageVerdict::store;
}

/// Sets the names by which requests select the response: those of Vary, and of the key by `rule`. A
/// refusal is for requests without credentials alone, whoever says that it may be stored. One that
/// only a rule keeps is for requests without a cookie, which may be a credential, too.
void select_by(StoredMetadata& metadata, std::string_view vary, const StoringRule* rule) {
    metadata.vary_names = vary;
    if (rule) metadata.vary_names = selecting_names(vary, rule->key_fields);
    if (!is_refusal(metadata.status) || vary == kVaryAny) return;
    add_name(metadata.vary_names, kCredentialNames);
    if (metadata.by_rule_alone && !(rule && rule->keys_by("cookie")))
        add_name(metadata.vary_names, "cookie");
}

/// The request of a refusal that only a rule keeps has a cookie.
bool is_refused_cookie(const StoredMetadata& refusal, Fields request, const StoringRule* rule) {
    return is_refusal(refusal.status) && refusal.by_rule_alone && find(request, field::cookie) &&
           !(rule && rule->keys_by("cookie"));
}

/// Sets all of the response but its head's text, and `withheld`. Returns the verdict.
StorageVerdict judge(const StoringRequest& storing, unsigned status, Fields fields,
                     const ReceivedHead& from, StoreCandidate& made) {
    StoredMetadata& metadata = *made.response;
    const auto& request = storing.request;
    const auto& policy = request.policy();
    const auto rules = policy.rules();
    metadata.status = static_cast<std::uint16_t>(status);
    metadata.rule_mark = policy.mark();
    metadata.server = from.server;
    // The whole seconds of the transfer count as age at once, the rest as time in the store. So no
    // tick of a clock on the way makes a response a second older than it is.
    const auto whole = std::chrono::floor<std::chrono::seconds>(from.took);
    const auto request_time = from.request_time - storing.clock_ahead;
    const auto response_time = request_time + whole;
    metadata.arrival = from.arrival.with_sleep();
    metadata.arrival.steady -= from.took - whole;
    const auto said = response_directives(fields, rules);
    made.withheld = said.withheld();
    metadata.freshness = freshness_of(status, fields, said, request_time, response_time, rules);
    if (from.from_peer) count_age_of_copy(metadata.freshness, fields, whole);
    if (from.redirects && !from.redirects->is_explicit() && metadata.freshness.is_explicit())
        metadata.freshness.source = LifetimeSource::heuristic;
    if (rules.rule) apply_rule(metadata.freshness, *rules.rule, status, from.from_peer);
    // An error that may pass has no place where the origin has news.
    if (is_origin_trouble(status) || status == 429) metadata.freshness.never_stale = true;
    if (!from.from_peer && may_be_personal(request.fields, metadata.freshness, rules))
        make_personal(metadata.freshness);
    const auto vary = policy.ignores_vary() ? std::string() : vary_names(fields);
    metadata.shares_cookie = rules.keeps_cookies() && shares_cookie(fields);
    auto verdict = storage_verdict(request.fields, storing.directives, status, fields, said, vary,
                                   metadata.freshness, rules);
    if (verdict == StorageVerdict::store && policy.bypasses()) verdict = StorageVerdict::bypass;
    if (verdict == StorageVerdict::store && from.redirects)
        verdict = verdict_of(*from.redirects, rules);
    // A rewritten response ends with the settings that rewrote it.
    const auto* const mirror = policy.mirror;
    const auto is_bound = mirror && depends_on_mirror(*mirror, fields, request.target());
    metadata.by_rule_alone =
        verdict == StorageVerdict::store &&
        (is_bound || (rules.rule && needs_rule(storing, status, fields, from)));
    select_by(metadata, vary, rules.rule);
    append_variant(metadata.variant, metadata.vary_names, request.fields);
    if (verdict == StorageVerdict::store && is_refused_cookie(metadata, request.fields, rules.rule))
        return StorageVerdict::authorization;
    auto tags = tags_of(fields, request.key.origin(), storing.key_hasher);
    const auto* rule = policy.rule;
    if (tags && (!rule || add_rule_tags(*tags, *rule, storing.key_hasher)))
        metadata.tags = std::move(*tags);
    else if (verdict == StorageVerdict::store)
        return StorageVerdict::too_many_tags;
    return verdict;
}

/// Of `names` those that are not among `others`, both as vary_names() writes them.
std::string names_missing(std::string_view names, std::string_view others) {
    std::string missing;
    ListMembers list(names);
    while (const auto name = list.next()) {
        ListMembers there(others);
        auto other = there.next();
        while (other && *other != *name) other = there.next();
        if (!other) missing.append(missing.empty() ? "" : ", ").append(*name);
    }
    return missing;
}

}  // namespace

StoreCandidate candidate(const StoringRequest& storing, const ReceivedHead& from) {
    StoreCandidate made{std::make_shared<StoredResponse>()};
    made.verdict = judge(storing, from.head.status, from.head.fields, from, made);
    made.response->from_peer = from.from_peer;
    if (from.of_client) made.verdict = StorageVerdict::authorization;
    return made;
}

UpdatedFields::UpdatedFields(Fields stored, const ReceivedHead& not_modified) {
    const HopByHop stops_here(not_modified.head.fields);
    std::vector<Field> updates;
    for (const auto& line : not_modified.head.fields) {
        if (line.id == field::via || iequals(line.name, "Cache-Status")) continue;
        if (!is_set_cookie(line))
            updates.push_back(line);
        else if (!stops_here(line))
            append_line(own_lines_, line);
    }
    if (!find(updates, field::date)) {
        append_http_date(date_, not_modified.arrival.wall);
        updates.push_back({field::date, "Date", date_});
    }
    if (find(updates, field::vary)) {
        vary_ = names_missing(vary_names(stored), vary_names(updates));
        if (!vary_.empty()) updates.push_back({field::vary, "Vary", vary_});
    }
    merged_ = merge_304(stored, updates);
}

bool UpdatedFields::fit(const LimitsConfig& limits) const {
    constexpr std::size_t kOfEachLine = 4;  // ": " and CRLF
    std::size_t bytes = 0;
    for (const auto& line : merged_) bytes += line.name.size() + line.value.size() + kOfEachLine;
    return merged_.size() <= kHeadLines && bytes <= limits.head;
}

RefreshedResponse refreshed(const StoringRequest& storing, const StoredResponse& stored,
                            Fields fields, const ReceivedHead& not_modified) {
    const auto& request = storing.request;
    const UpdatedFields updated(fields, not_modified);
    RefreshedResponse result;
    result.too_large = !updated.fit(request.config().limits);
    if (result.too_large) return result;
    // An Age that the 304 brings counts, the stored one is history.
    result.candidate.response = std::make_shared<StoredResponse>(StoredMetadata(), stored.body);
    auto& response = *result.candidate.response;
    result.candidate.verdict =
        judge(storing, stored.status, updated.merged(), not_modified, result.candidate);
    response.server = stored.server;  // a 304 of another server brings no bytes
    response.from_peer = stored.from_peer;
    // A response for one client stays personal, whatever another client's exchange says. Only a new
    // response can be for all.
    if (stored.freshness.personal) make_personal(response.freshness);
    response.blocks = stored.blocks;
    result.live = std::make_shared<LiveFields>();
    // Age belongs to this exchange, and the fields named by a qualified no-cache or private to its
    // client.
    const StoredFields to_store(updated.merged(), request.policy().rules());
    for (const auto& line : updated.merged()) {
        if (to_store(line))
            append_line(response.head_fields, line);
        else if (line.id != field::age)
            append_line(result.live->lines, line);
    }
    result.live->lines.append(updated.own_lines());
    return result;
}

StorageVerdict fits(StorageVerdict verdict, const std::optional<std::uint64_t>& length,
                    std::uint64_t object_max) {
    return verdict == StorageVerdict::store && length && *length > object_max
               ? StorageVerdict::too_large
               : verdict;
}

Sharing sharing_of(StorageVerdict verdict, CopyUse use) {
    switch (use) {
        case CopyUse::passed_on:
            return Sharing::not_copied;
        case CopyUse::passed_on_once:
            return Sharing::not_copied_once;
        case CopyUse::stored:
            break;
    }
    return verdict == StorageVerdict::store ? Sharing::stored : Sharing::passed_on;
}

Sharing share(FillLease& lease, StoreCandidate& made, CopyUse use) {
    auto sharing = sharing_of(made.verdict, use);
    // The fetch has outlasted the lifetime, which is no reason against one fetch for many.
    const auto& freshness = made.response->freshness;
    if (sharing == Sharing::passed_on && made.verdict == StorageVerdict::not_reusable &&
        freshness.is_explicit() && freshness.serves_others())
        sharing = Sharing::awaited;
    const auto is_for_others = sharing == Sharing::stored || sharing == Sharing::awaited;
    const auto& tags = made.response->tags;
    if (!is_for_others || tags.empty() || lease.tag(tags)) return sharing;
    made.verdict = StorageVerdict::invalidated;
    return sharing_of(made.verdict, use);
}

Sharing admit(Store& store, FillLease& lease, StoreCandidate& made, CopyUse use,
              Store::Clock::time_point now) {
    if (sharing_of(made.verdict, use) == Sharing::stored &&
        !charge(store, *made.response, lease.uri(), now))
        made.verdict = StorageVerdict::no_room;
    return share(lease, made, use);
}

bool stand_in_for_nothing(Store& store, summary::KeyHash hash, std::string_view uri,
                          const StoredResponse& stored, Store::Clock::time_point now) {
    if (stored.freshness.never_stale) return true;
    StoredMetadata metadata = stored;
    metadata.freshness.never_stale = true;
    auto next = std::make_shared<StoredResponse>(std::move(metadata), stored.body);
    return charge(store, *next, uri, now) &&
           store.replace(hash, &stored, std::move(next), now, now) != Store::Replaced::invalidated;
}

StorageVerdict verdict_of(FetchError end) {
    return end == FetchError::abandoned ? StorageVerdict::aborted : StorageVerdict::incomplete;
}

bool charge(Store& store, StoredResponse& response, std::string_view uri,
            Store::Clock::time_point now) {
    response.shrink();
    const auto& on_disk = response.body->on_disk();
    const auto sums = on_disk ? on_disk->memory_bytes() : 0;
    auto taken = store.reserve(Store::charge_for(uri, response) + sums, now);
    if (taken) response.charge = std::move(*taken);
    return taken.has_value();
}

}  // namespace proxy
