#include "proxy/http/storage_verdict.hpp"

#include "proxy/http/credentials.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

#include <algorithm>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

StorageVerdict by_status(unsigned status) {
    if (status < 200) return StorageVerdict::interim;
    if (status == 206 || status == 412 || status == 416) return StorageVerdict::partial;
    if (status == 304) return StorageVerdict::not_modified;
    return StorageVerdict::store;
}

/// RFC 9111 §3.5, or a rule: these permit sharing, also for a request with a credential.
bool shared_despite_authorization(const ResponseDirectives& response, const CacheRules& rules) {
    return response.is_public || response.must_revalidate || response.s_maxage.present() ||
           (rules.rule && (rules.rule->share_authorized || rules.rule->authorize));
}

/// Under StoringRule::authorize: content alone, and by a validator that tells the content of one
/// client from another's. An origin that compares dates would confirm the content of anybody.
bool may_be_confirmed(unsigned status, Fields response) {
    return status >= 200 && status < 300 && validators_of(response).strong();
}

}  // namespace

bool shares_cookie(Fields response) {
    if (std::none_of(response.begin(), response.end(), is_set_cookie)) return false;
    const StoredFields stored(response, {.store_set_cookie = true});
    return std::any_of(response.begin(), response.end(),
                       [&](const Field& line) { return is_set_cookie(line) && stored(line); });
}

StorageVerdict verdict_of(const ResponseDirectives& said, unsigned status) {
    if (said.must_understand) {
        // It overrides no-store for a status that this cache implements (RFC 9111 §5.2.2.3).
        if (!understood_status(status)) return StorageVerdict::must_understand;
    } else if (said.no_store) {
        return StorageVerdict::no_store;
    }
    return said.is_private ? StorageVerdict::private_ : StorageVerdict::store;
}

StorageVerdict part_verdict(Fields request, const RequestDirectives& directives,
                            const ResponseDirectives& said, const CacheRules& rules,
                            std::string_view vary) {
    if (directives.no_store) return StorageVerdict::request_no_store;
    if (const auto verdict = verdict_of(said, 200); verdict != StorageVerdict::store)
        return verdict;
    return !shared_despite_authorization(said, rules) && has_credential(request, rules.rule, vary)
               ? StorageVerdict::authorization
               : StorageVerdict::store;
}

StorageVerdict storage_verdict(Fields request, const RequestDirectives& directives, unsigned status,
                               Fields response, const ResponseDirectives& said,
                               std::string_view vary, const Freshness& freshness,
                               const CacheRules& rules) {
    if (const auto verdict = by_status(status); verdict != StorageVerdict::store) return verdict;
    if (directives.no_store) return StorageVerdict::request_no_store;
    if (rules.rule && rules.rule->authorize && !may_be_confirmed(status, response))
        return StorageVerdict::authorization;

    if (const auto verdict = verdict_of(said, status); verdict != StorageVerdict::store)
        return verdict;
    // A rule shares content. A refusal is for the one whose credentials were refused.
    const auto permitted = status < 400 ? rules : CacheRules{};
    if ((is_refusal(status) || !shared_despite_authorization(said, permitted)) &&
        has_credential(request, rules.rule, vary))
        return StorageVerdict::authorization;
    if (vary == kVaryAny) return StorageVerdict::vary_any;
    if (freshness.source == LifetimeSource::none) return StorageVerdict::no_freshness;
    // Other clients get a cookie only if the configuration permits it, and the origin has given an
    // explicit lifetime.
    const auto ignores_cookie = rules.rule && rules.rule->ignored.set_cookie;
    if (!ignores_cookie && (!rules.store_set_cookie || !freshness.is_explicit()) &&
        shares_cookie(response))
        return StorageVerdict::set_cookie;

    const bool allowed_stale = !freshness.never_stale &&
                               (freshness.is_explicit() || freshness.had_lifetime()) &&
                               (freshness.stale_if_error > StoredSeconds(0) ||
                                freshness.stale_while_revalidate > StoredSeconds(0));
    const bool useful_when_stale = freshness.has_validator || allowed_stale;
    const bool useful_now =
        !freshness.always_validate && is_fresh(freshness, std::chrono::seconds(0));
    return useful_now || useful_when_stale ? StorageVerdict::store : StorageVerdict::not_reusable;
}

bool ends_stored(StorageVerdict verdict, unsigned status) {
    const bool of_the_resource =
        (status >= 200 && status < 300) || status == 304 || status == 404 || status == 410;
    if (!of_the_resource) return false;
    switch (verdict) {
        case StorageVerdict::no_store:
        case StorageVerdict::private_:
        case StorageVerdict::must_understand:
        case StorageVerdict::vary_any:
            return true;
        default:
            return false;
    }
}

bool understood_status(unsigned status) {
    if (status >= 200 && status <= 205) return true;
    if (status >= 300 && status <= 308) return status != 304 && status != 306;
    if (status >= 400 && status <= 417) return true;
    return status == 421 || status == 422 || status == 426 || (status >= 500 && status <= 505);
}

}  // namespace proxy
