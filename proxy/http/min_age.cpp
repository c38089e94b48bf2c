#include "proxy/http/min_age.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"

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
    const auto count = span.count() / unit.seconds;
    return std::to_string(count) + " " + unit.name + (count == 1 ? "" : "s");
}

using boost::beast::http::field;

/// The rule judges the age of a response with this status.
bool judges_content(const Rule& rule, unsigned status) {
    return rule.min_age && status >= 200 && status < 300 && status != 204 && status != 205;
}

std::optional<WallTime> modified_at(Fields response, WallTime now) {
    return parse_http_date(only_value(response, field::last_modified), now);
}

/// The year 9999: later times have no date in HTTP.
constexpr std::int64_t kLastSecond = 253'402'300'799;

}  // namespace

std::optional<WallTime> stated_first_seen(Fields response) {
    for (const auto& line : response) {
        if (!iequals(line.name, kFirstSeenField)) continue;
        std::int64_t seconds = 0;
        const auto* const end = line.value.data() + line.value.size();
        const auto read = std::from_chars(line.value.data(), end, seconds);
        const auto is_time =
            read.ec == std::errc() && read.ptr == end && seconds > 0 && seconds <= kLastSecond;
        return is_time ? std::optional(WallTime(std::chrono::seconds(seconds))) : std::nullopt;
    }
    return std::nullopt;
}

std::string_view tag_of_first_sight(const Rule& rule, unsigned status, Fields response,
                                    WallTime now) {
    if (!judges_content(rule, status) || modified_at(response, now)) return {};
    return only_value(response, field::etag);
}

std::optional<std::string> why_too_young(const Rule& rule, unsigned status, Fields response,
                                         WallTime now, std::optional<WallTime> first_seen) {
    if (!judges_content(rule, status)) return std::nullopt;
    std::string text("The rule ");
    text.append(rule.name).append(" of this proxy refuses content that is younger than ");
    text.append(span_text(*rule.min_age)).append(" (min_age). ");
    const auto modified = modified_at(response, now);
    const auto since = modified ? modified : first_seen;
    if (!since) {
        text.append("The origin states neither Last-Modified nor one ETag, so the age is unknown.");
        return text;
    }
    if (now - *since >= *rule.min_age) return std::nullopt;
    text.append(modified ? "The origin changed it at "
                         : "The origin states no Last-Modified. The proxy first saw it at ");
    text.append(rfc3339(*since));
    text.append("; it passes at ").append(rfc3339(*since + *rule.min_age)).append(".");
    return text;
}

}  // namespace proxy
