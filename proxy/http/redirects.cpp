#include "proxy/http/redirects.hpp"

#include <algorithm>
#include <array>

#include "base/tls/crypto.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/http/storage_verdict.hpp"

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

}  // namespace

std::string_view source_of(Fields response) {
    for (const auto& line : response)
        if (iequals(line.name, kSourceField)) return line.value;
    return {};
}

std::string source_text(std::string_view url) {
    constexpr std::size_t kBytes = 16;
    base::HmacSha256 hash(base::bytes_of(kSourceField));
    return base::hex(base::ByteView(hash({base::bytes_of(url)})).first(kBytes));
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

Redirects::Redirects(const CacheRules& rules) : rules_(rules) {
    if (rules.rule) names_ = rules.rule->redirect_fields;
    rules_.rule = nullptr;
}

void Redirects::add(const ReceivedHead& redirect, std::optional<seconds> min_age) {
    ++count_;
    // The connection of the redirect carries other requests soon, so the values are copies.
    std::erase_if(names_, [&](const std::string& name) {
        const auto before = kept_.size();
        for (const auto& line : redirect.head.fields)
            if (iequals(line.name, name)) kept_.emplace_back(line.name, line.value);
        return kept_.size() > before;
    });
    min_age_ = std::max(min_age_, min_age);
    take(redirect);
}

void Redirects::end_at(const ReceivedHead& final, std::string_view target, bool from_another) {
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
        const auto is_kept = std::ranges::any_of(
            kept_, [&](const auto& one) { return iequals(one.first, line.name); });
        if (line.id != field::vary && !is_kept && !is_one_of(kReplaced, line.name))
            fields_.push_back(line);
    }
    for (const auto& [name, value] : kept_)
        fields_.push_back({boost::beast::http::string_to_field(name), name, value});
    control_text_ = narrowest_.cache_control(response_directives(fields, rules_), age);
    fields_.push_back({field::cache_control, "Cache-Control", control_text_});
    if (!narrowest_.vary().empty()) fields_.push_back({field::vary, "Vary", narrowest_.vary()});
    fields_.push_back({field::unknown, kSourceField, source_});
    if (!min_age_) return;
    min_age_text_ = std::to_string(min_age_->count());
    fields_.push_back({field::unknown, kMinAgeField, min_age_text_});
}

void Redirects::end_unfollowed(const ReceivedHead& redirect, const CacheKey& at,
                               StorageVerdict why) {
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
