#include "proxy/http/freshness.hpp"

#include "proxy/http/credentials.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

namespace {

constexpr std::chrono::seconds kShortestGuess{1};

using http_field = boost::beast::http::field;
using std::chrono::seconds;

/// The value of a date field. Returns nullopt for malformed text and for contradictory lines.
struct DateField {
    bool present = false;
    std::optional<WallTime> value;
};

DateField date_field(Fields response, http_field id, WallTime now) {
    DateField date;
    std::string_view text;
    for (const auto& field : response) {
        if (field.id != id) continue;
        if (date.present && field.value != text) return {true, std::nullopt};
        date.present = true;
        text = field.value;
    }
    if (date.present) date.value = parse_http_date(text, now);
    return date;
}

/// RFC 9111 §4.2.1, in its order. Malformed explicit freshness is a lifetime of 0.
void set_lifetime(Freshness& out, const ResponseDirectives& directives, unsigned status,
                  Fields response, WallTime date, WallTime response_time, const CacheRules& rules) {
    if (directives.s_maxage.present()) {
        out.source = LifetimeSource::s_maxage;
        out.lifetime = saturate(directives.s_maxage.value);
        return;
    }
    if (directives.max_age.present()) {
        out.source = LifetimeSource::max_age;
        out.lifetime = saturate(directives.max_age.value);
        return;
    }
    if (const auto expires = date_field(response, http_field::expires, response_time);
        expires.present && !directives.targeted) {
        out.source = LifetimeSource::expires;
        if (expires.value) out.lifetime = saturate(*expires.value - date);
        return;
    }
    if (!heuristically_cacheable(status) && !directives.is_public) return;
    out.source = LifetimeSource::heuristic;
    const auto modified = date_field(response, http_field::last_modified, response_time);
    if (!modified.value) return;
    const std::chrono::duration<double> part = (date - *modified.value) * rules.heuristic_fraction;
    const std::chrono::duration<double> most = rules.heuristic_maximum;
    out.lifetime = saturate(std::chrono::duration_cast<seconds>(std::min(part, most)));
    // A file that was published a moment ago is fetched once for all who wait for it.
    if (part.count() > 0 && part < kShortestGuess && most >= kShortestGuess)
        out.lifetime = kShortestGuess;
}

/// Statuses of content and of permanent redirects. A rule that prolongs lifetimes, or calls
/// responses immutable, means these. An error lives longer only by `fresh_for`.
bool is_lasting(unsigned status) {
    return (status >= 200 && status < 300) || status == 301 || status == 308;
}

StoredSeconds window(const DeltaDirective& directive) {
    return directive.given() ? saturate(directive.value) : StoredSeconds(-1);
}

}  // namespace

StoredSeconds saturate(seconds value) {
    return std::chrono::duration_cast<StoredSeconds>(std::clamp(value, seconds(0), kMaxDelta));
}

Freshness freshness_of(unsigned status, Fields response, const ResponseDirectives& directives,
                       WallTime request_time, WallTime response_time, const CacheRules& rules) {
    const auto date =
        date_field(response, http_field::date, response_time).value.value_or(response_time);

    Freshness out;
    set_lifetime(out, directives, status, response, date, response_time, rules);

    // §4.2.3. A clock that is set back between the two times makes no response younger.
    const auto apparent_age = std::max(response_time - date, seconds(0));
    const auto delay = std::max(response_time - request_time, seconds(0));
    const auto corrected_age = received_age(response).value_or(seconds(0)) + delay;
    out.initial_age = saturate(std::max(apparent_age, corrected_age));

    out.always_validate = directives.no_cache;
    out.never_stale = directives.must_revalidate || directives.proxy_revalidate ||
                      directives.s_maxage.present() || directives.no_cache;
    out.stale_while_revalidate = window(directives.stale.while_revalidate);
    out.stale_if_error = window(directives.stale.if_error);
    out.has_validator = has_validator(response);
    out.targeted = directives.targeted;
    return out;
}

void count_age_of_copy(Freshness& freshness, Fields fields, seconds delay) {
    if (const auto age = received_age(fields)) freshness.initial_age = saturate(*age + delay);
}

void apply_rule(Freshness& freshness, const StoringRule& rule, unsigned status, bool from_peer) {
    const auto received = seconds(freshness.initial_age);
    const auto age = from_peer ? seconds(0) : received;
    const auto before = seconds(freshness.lifetime) - age;
    auto left = before;
    const auto lasts = is_lasting(status);
    const auto stated =
        rule.immutable && lasts ? std::optional(kMaxDelta) : rule.lifetime_for(status);
    const auto may_live = stated || (lasts && freshness.source != LifetimeSource::none);
    if (stated) {
        freshness.source = LifetimeSource::rule;
        left = *stated;
    }
    if (rule.at_least && may_live) left = std::max(left, *rule.at_least);
    // At the first node a copy that is older than at_most was in bounds, and so it kept its Age.
    const auto kept_age = from_peer && rule.at_most && received > *rule.at_most;
    if (rule.at_most && !kept_age) left = std::min(left, *rule.at_most);
    if (kept_age) left = std::min(left, received + *rule.at_most);
    if (left != before || stated) {
        freshness.lifetime = saturate(left);
        if (!from_peer) freshness.initial_age = StoredSeconds(0);
    }
    if (rule.stale_while_revalidate)
        freshness.stale_while_revalidate = saturate(*rule.stale_while_revalidate);
    if (rule.stale_if_error) freshness.stale_if_error = saturate(*rule.stale_if_error);
    if (rule.authorize) {
        freshness.each_client = freshness.always_validate = freshness.never_stale = true;
        freshness.source = LifetimeSource::rule;
        freshness.lifetime = saturate(kMaxDelta);
    }
    const auto states = [](const std::optional<seconds>& span) {
        return span && span->count() > 0;
    };
    const auto may_lift = freshness.never_stale && !freshness.always_validate;
    if (may_lift && (states(rule.stale_while_revalidate) || states(rule.stale_if_error))) {
        freshness.never_stale = false;
        // The window that the rule leaves out stays closed, as the origin has closed it.
        if (!rule.stale_if_error) freshness.stale_if_error = StoredSeconds(0);
        if (!rule.stale_while_revalidate) freshness.stale_while_revalidate = StoredSeconds(-1);
    }
}

bool identifies_user(Fields request) {
    return std::any_of(request.begin(), request.end(), [](const Field& line) {
        return line.id == http_field::cookie || credential_field(line) != 0;
    });
}

bool may_be_personal(Fields request, const Freshness& freshness, const CacheRules& rules) {
    if (freshness.is_explicit()) return false;
    if (rules.rule && rules.rule->authorize) return false;
    const auto* const rule = rules.rule;
    if (find(request, http_field::cookie) && !(rule && rule->keys_by("cookie"))) return true;
    return !(rule && rule->share_authorized) && has_credential(request, rule);
}

void make_personal(Freshness& freshness) {
    freshness.personal = freshness.always_validate = freshness.never_stale = true;
    freshness.lifetime = StoredSeconds(0);
}

bool heuristically_cacheable(unsigned status) {
    switch (status) {
        case 200:
        case 203:
        case 204:
        case 206:
        case 300:
        case 301:
        case 308:
        case 404:
        case 405:
        case 410:
        case 414:
        case 501:
            return true;
        default:
            return false;
    }
}

std::optional<seconds> received_age(Fields response) {
    const auto first = FieldMembers(response, http_field::age).next();
    return first ? parse_delta_seconds(*first) : std::nullopt;
}

}  // namespace proxy
