#include "proxy/http/narrowest_statements.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/freshness.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

using std::chrono::seconds;

void append_directive(std::string& out, std::string_view name) {
    out.append(out.empty() ? "" : ", ").append(name);
}

void append_directive(std::string& out, std::string_view name, seconds value) {
    append_directive(out, name);
    out.append("=").append(std::to_string(std::clamp(value, seconds(0), kMaxDelta).count()));
}

/// The least of the windows that all responses state; 0 if one of them closes it; else -1: one
/// states none.
seconds narrower(seconds known, const DeltaDirective& stated) {
    const auto value = stated.given() ? stated.value : seconds(-1);
    if (known == seconds(0) || value == seconds(0)) return seconds(0);
    return std::min(known, value);
}

}  // namespace

seconds NarrowestStatements::take(const ReceivedHead& from, const CacheRules& rules) {
    // Caches of the client's side read Cache-Control where this one reads CDN-Cache-Control.
    take(from, rules, true);
    const auto age = take(from, rules, false);
    const auto names = vary_names(from.head.fields);
    if (!names.empty()) vary_.append(vary_.empty() ? "" : ", ").append(names);
    return age;
}

/// Returns the age.
seconds NarrowestStatements::take(const ReceivedHead& from, CacheRules rules,
                                  bool by_cdn_cache_control) {
    const auto& fields = from.head.fields;
    rules.cdn_cache_control = by_cdn_cache_control;
    const auto said = response_directives(fields, rules);
    const auto response_time = from.request_time + std::chrono::floor<seconds>(from.took);
    const auto freshness =
        freshness_of(from.head.status, fields, said, from.request_time, response_time, rules);
    const auto verdict = verdict_of(said, from.head.status);
    const auto age = seconds(freshness.initial_age);
    explicit_ = explicit_ && freshness.is_explicit();
    left_ = std::min(left_, seconds(freshness.lifetime) - age);
    left_client_ = std::min(left_client_, left_);
    if (said.max_age.present()) left_client_ = std::min(left_client_, said.max_age.value - age);
    no_store_ = no_store_ || verdict == StorageVerdict::no_store ||
                verdict == StorageVerdict::must_understand;
    private_ = private_ || said.is_private;
    no_cache_ = no_cache_ || said.no_cache;
    const auto permits = said.is_public || said.must_revalidate || said.s_maxage.present();
    permits_sharing_ = permits_sharing_ && permits;
    must_revalidate_ = must_revalidate_ || said.must_revalidate || said.proxy_revalidate;
    any_s_maxage_ = any_s_maxage_ || said.s_maxage.present();
    all_s_maxage_ = all_s_maxage_ && said.s_maxage.present();
    immutable_ = immutable_ && said.immutable;
    no_transform_ = no_transform_ || said.no_transform;
    while_revalidate_ = narrower(while_revalidate_, said.stale.while_revalidate);
    if_error_ = narrower(if_error_, said.stale.if_error);
    return age;
}

/// `age`: of the final response, which its own fields state.
std::string NarrowestStatements::cache_control(const ResponseDirectives& final, seconds age) const {
    std::string out;
    if (no_store_) append_directive(out, "no-store");
    if (private_) append_directive(out, "private");
    if (no_cache_) append_directive(out, "no-cache");
    for (const auto& [name, names] : {std::pair{"private", final.private_fields},
                                      std::pair{"no-cache", final.no_cache_fields}}) {
        if (names.empty()) continue;
        append_directive(out, name);
        out.append("=\"").append(names).append("\"");
    }
    if (permits_sharing_) append_directive(out, "public");
    const auto lifetime = [&](seconds left) { return left > seconds(0) ? left + age : seconds(0); };
    append_directive(out, "max-age", lifetime(left_client_));
    if (all_s_maxage_)
        append_directive(out, "s-maxage", lifetime(left_));
    else if (must_revalidate_ || any_s_maxage_)  // a ban on stale use, and no permission to share
        append_directive(out, "proxy-revalidate");
    if (must_revalidate_ && permits_sharing_) append_directive(out, "must-revalidate");
    if (while_revalidate_ >= seconds(0))
        append_directive(out, "stale-while-revalidate", while_revalidate_);
    if (if_error_ >= seconds(0)) append_directive(out, "stale-if-error", if_error_);
    if (immutable_) append_directive(out, "immutable");
    if (no_transform_) append_directive(out, "no-transform");
    return out;
}

}  // namespace proxy
