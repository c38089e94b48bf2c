#include "proxy/http/retry_after.hpp"

#include <algorithm>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {

using boost::beast::http::field;

std::optional<std::chrono::seconds> retry_after(unsigned status, Fields response, WallTime now) {
    if (status != 429 && status != 503) return std::nullopt;
    const auto value = only_value(response, field::retry_after);
    if (const auto delay = parse_delta_seconds(value)) return delay;
    const auto when = parse_http_date(value, now);
    if (!when) return std::nullopt;
    const auto date = parse_http_date(only_value(response, field::date), now);
    return std::clamp<std::chrono::seconds>(*when - date.value_or(now), std::chrono::seconds(0),
                                            kMaxDelta);
}

}  // namespace proxy
