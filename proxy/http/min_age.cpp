#include "proxy/http/min_age.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text/amount.hpp"
#include "base/text/number.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/methods.hpp"

namespace proxy {

namespace {

/// `3 days`, `90 seconds`: in the largest unit that gives a whole number.
std::string span_text(std::chrono::seconds span) {
    struct Unit {
        std::int64_t seconds;
        const char* name;
    };
    constexpr Unit kUnits[] = {{86'400, "day"}, {3'600, "hour"}, {60, "minute"}, {1, "second"}};
    const auto unit = *std::ranges::find_if(
        kUnits, [&](const Unit& each) { return span.count() % each.seconds == 0; });
    return base::amount(static_cast<std::uint64_t>(span.count() / unit.seconds), unit.name);
}

using boost::beast::http::field;

/// The number of a field that one node writes for another; nullopt: there is none, or it is not
/// from 1 to `most`.
std::optional<std::int64_t> number_in(Fields response, std::string_view name, std::int64_t most) {
    for (const auto& line : response) {
        if (!iequals(line.name, name)) continue;
        const auto number = base::parse_number(line.value);
        const auto is_good = number && *number > 0 && *number <= static_cast<std::uint64_t>(most);
        return is_good ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
    }
    return std::nullopt;
}

/// The age that a response with this status needs; nullopt: it passes at any age.
std::optional<std::chrono::seconds> age_wanted(const Rule& rule, unsigned status, Fields response) {
    constexpr std::int64_t kMost = std::chrono::seconds(std::chrono::years(100)).count();
    if (!may_judge_age(&rule) || status < 200 || status >= 300 || status == 204 || status == 205)
        return std::nullopt;
    auto wanted = rule.min_age;
    if (const auto stated = number_in(response, kMinAgeField, kMost))
        wanted = std::max(wanted, std::optional(std::chrono::seconds(*stated)));
    return wanted;
}

std::optional<WallTime> modified_at(Fields response, WallTime now) {
    return parse_http_date(only_value(response, field::last_modified), now);
}

/// The year 9999: later times have no date in HTTP.
constexpr std::int64_t kLastSecond = 253'402'300'799;

}  // namespace

bool may_bring_content(std::string_view method, unsigned status) {
    if (is_safe_method(method)) return true;
    return method != "PUT" && method != "DELETE" && status != 201 && status != 202;
}

std::optional<WallTime> stated_first_seen(Fields response) {
    const auto seconds = number_in(response, kFirstSeenField, kLastSecond);
    return seconds ? std::optional(WallTime(std::chrono::seconds(*seconds))) : std::nullopt;
}

std::string_view tag_of_first_sight(const Rule& rule, unsigned status, Fields response,
                                    WallTime now) {
    if (!age_wanted(rule, status, response) || modified_at(response, now)) return {};
    return only_value(response, field::etag);
}

std::optional<std::string> why_too_young(const Rule& rule, unsigned status, Fields response,
                                         WallTime now, std::optional<WallTime> first_seen) {
    const auto wanted = age_wanted(rule, status, response);
    if (!wanted) return std::nullopt;
    std::string text("The rule ");
    text.append(rule.name).append(" of this proxy refuses content that is younger than ");
    text.append(span_text(*wanted)).append(" (min_age). ");
    const auto modified = modified_at(response, now);
    const auto since = modified ? modified : first_seen;
    if (!since) {
        text.append("The origin states neither Last-Modified nor one ETag, so the age is unknown.");
        return text;
    }
    if (now - *since >= *wanted) return std::nullopt;
    text.append(modified ? "The origin changed it at "
                         : "The origin states no Last-Modified. The proxy first saw it at ");
    text.append(rfc3339(*since));
    text.append("; it passes at ").append(rfc3339(*since + *wanted)).append(".");
    return text;
}

}  // namespace proxy
