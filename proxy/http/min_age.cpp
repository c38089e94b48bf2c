#include "proxy/http/min_age.hpp"

#include "proxy/http/field_list.hpp"

namespace proxy {

std::optional<std::string> why_too_young(const Rule& rule, unsigned status, Fields response,
                                         WallTime now) {
    const auto has_content = status >= 200 && status < 300 && status != 204 && status != 205;
    if (!rule.min_age || !has_content) return std::nullopt;
    std::string text("The rule ");
    text.append(rule.name).append(" of this proxy refuses content that is younger than ");
    text.append(std::to_string(rule.min_age->count())).append(" seconds (min_age). ");
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
