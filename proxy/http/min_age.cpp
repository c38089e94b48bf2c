#include "proxy/http/min_age.hpp"

#include <algorithm>
#include <cstdint>

#include "proxy/http/field_list.hpp"

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

}  // namespace

std::optional<std::string> why_too_young(const Rule& rule, unsigned status, Fields response,
                                         WallTime now) {
    const auto has_content = status >= 200 && status < 300 && status != 204 && status != 205;
    if (!rule.min_age || !has_content) return std::nullopt;
    std::string text("The rule ");
    text.append(rule.name).append(" of this proxy refuses content that is younger than ");
    text.append(span_text(*rule.min_age)).append(" (min_age). ");
    const auto stated = only_value(response, boost::beast::http::field::last_modified);
    const auto modified = parse_http_date(stated, now);
    if (!modified) {
        text.append("The origin states no Last-Modified, so the age is unknown.");
        return text;
    }
    if (now - *modified >= *rule.min_age) return std::nullopt;
    text.append("The origin changed it at ").append(rfc3339(*modified));
    text.append("; it passes at ").append(rfc3339(*modified + *rule.min_age)).append(".");
    return text;
}

}  // namespace proxy
