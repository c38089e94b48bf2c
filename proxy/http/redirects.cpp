#include "proxy/http/redirects.hpp"

#include <algorithm>
#include <array>

#include "protocol/net/crypto.hpp"
#include "protocol/wire/keys.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;
using std::chrono::seconds;

/// Fields of a final response that Redirects writes anew, or that would be wrong under the first
/// URL.
constexpr std::array<std::string_view, 8> kReplaced{
    "Cache-Control", "CDN-Cache-Control", "Expires",    "Pragma",
    "Location",      "Content-Location",  kSourceField, kMinAgeField};
/// Fields by which a host speaks of itself as a whole.
constexpr std::array<std::string_view, 6> kOfItsHost{
    "Set-Cookie2", "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc", "Report-To", "NEL"};
constexpr std::array<std::string_view, 6> kOpenToAll{
    "Accept", "Accept-Encoding", "Accept-Language", "User-Agent", "Cache-Control", "Pragma"};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
    return std::ranges::any_of(names, [&](std::string_view one) { return iequals(one, name); });
}

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

std::string_view source_of(Fields response) {
    for (const auto& line : response)
        if (iequals(line.name, kSourceField)) return line.value;
    return {};
}

std::string source_text(std::string_view url) {
    constexpr std::size_t kBytes = 16;
    protocol::HmacSha256 hash(protocol::bytes_of(kSourceField));
    return protocol::hex(protocol::ByteView(hash({protocol::bytes_of(url)})).first(kBytes));
}

bool is_redirect(unsigned status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::optional<CacheKey> redirect_target(const Head& head, const CacheKey& at, bool keeps_cookie) {
    if (!is_redirect(head.status)) return std::nullopt;
    const Field* location = nullptr;
    for (const auto& line : head.fields) {
        if (keeps_cookie && is_set_cookie(line)) return std::nullopt;
        if (line.id != field::location) continue;
        if (location) return std::nullopt;
        location = &line;
    }
    CacheKey target;
    if (!location || location->value.empty() || !resolve_reference(at, location->value, target))
        return std::nullopt;
    if (at.scheme() == Scheme::https && target.scheme() == Scheme::http) return std::nullopt;
    return target;
}

StorageVerdict why_without_target(const Head& head, bool keeps_cookie) {
    return keeps_cookie && std::ranges::any_of(head.fields, is_set_cookie)
               ? StorageVerdict::redirect_cookie
               : StorageVerdict::redirect_target;
}

bool may_go_to_another_host(const Field& line) {
    return is_one_of(kOpenToAll, line.name);
}

seconds Redirects::take(const Received& from) {
    // Caches of the client's side read Cache-Control where this one reads CDN-Cache-Control.
    take(from, true);
    const auto age = take(from, false);
    const auto names = vary_names(from.head.fields);
    if (!names.empty()) vary_.append(vary_.empty() ? "" : ", ").append(names);
    return age;
}

/// Returns the age.
seconds Redirects::take(const Received& from, bool by_cdn_cache_control) {
    const auto& fields = from.head.fields;
    auto rules = rules_;
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
    while_revalidate_ = narrower(while_revalidate_, said.stale_while_revalidate);
    if_error_ = narrower(if_error_, said.stale_if_error);
    return age;
}

void Redirects::add(const Received& redirect, std::optional<seconds> min_age) {
    ++count_;
    min_age_ = std::max(min_age_, min_age);
    take(redirect);
}

/// `age`: of the final response, which its own fields state.
std::string Redirects::cache_control(const ResponseDirectives& final, seconds age) const {
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

void Redirects::end_at(const Received& final, std::string_view target, bool from_another) {
    source_ = source_text(target);
    const auto age = take(final);
    const auto& fields = final.head.fields;
    for (const auto& line : fields) {
        const auto is_cookie = is_set_cookie(line);
        if (from_another && (is_cookie || is_one_of(kOfItsHost, line.name))) {
            // As everywhere, cookies of a 304 concern its own client.
            dropped_cookies_ = dropped_cookies_ || (is_cookie && final.head.status != 304);
            continue;
        }
        if (line.id != field::vary && !is_one_of(kReplaced, line.name)) fields_.push_back(line);
    }
    control_text_ = cache_control(response_directives(fields, rules_), age);
    fields_.push_back({field::cache_control, "Cache-Control", control_text_});
    vary_text_ = vary_;
    if (!vary_text_.empty()) fields_.push_back({field::vary, "Vary", vary_text_});
    fields_.push_back({field::unknown, kSourceField, source_});
    if (!min_age_) return;
    min_age_text_ = std::to_string(min_age_->count());
    fields_.push_back({field::unknown, kMinAgeField, min_age_text_});
}

void Redirects::end_unfollowed(const Received& redirect, const CacheKey& at, StorageVerdict why) {
    why_left_ = why;
    CacheKey target;
    for (const auto& line : redirect.head.fields) {
        fields_.push_back(line);
        if (line.id != field::location || count_ == 0) continue;
        if (!resolve_reference(at, line.value, target)) continue;
        const auto fragment = line.value.find('#');
        location_text_ = target.uri();
        if (fragment != std::string_view::npos) location_text_.append(line.value.substr(fragment));
        fields_.back().value = location_text_;
    }
}

}  // namespace proxy
