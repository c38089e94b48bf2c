// The settings of `tracing` with a grammar of their own; see special_settings.hpp.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "proxy/config/config_values.hpp"
#include "proxy/config/special_settings.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy::settings {
namespace {

constexpr std::string_view kCollectorUrl =
    "must be http://host:port/v1/traces or https://..., without credentials";
constexpr std::string_view kTracesPath = "/v1/traces";  // of OTLP/HTTP
constexpr std::size_t kMaxCollectorUrl = 1024;          // bytes

}  // namespace

void read_endpoint(ConfigSection& in, std::string_view key, CollectorUrl& out) {
    constexpr std::string_view kClear = "http://", kSecure = "https://";
    in.require(key);
    const auto text = in.text(key);
    if (!text) return;
    CollectorUrl url;
    url.text = *text;
    std::string_view rest = *text;
    url.tls = iequals(rest.substr(0, kSecure.size()), kSecure);
    const auto scheme = url.tls ? kSecure : kClear;
    const auto good_start = iequals(rest.substr(0, scheme.size()), scheme);
    if (!good_start || rest.size() > kMaxCollectorUrl || has_control(rest, 0x21) ||
        rest.find_first_of("@#") != std::string_view::npos)
        return in.fail(key, std::string(kCollectorUrl));
    rest.remove_prefix(scheme.size());
    const auto authority = rest.substr(0, rest.find_first_of("/?"));
    const std::uint16_t default_port = url.tls ? 443 : 80;
    const auto place = parse_host_port(authority, default_port);
    if (!place) return in.fail(key, std::string(kCollectorUrl));
    url.place.port = place->port;
    append_lower(url.place.host, place->host);
    append_lower(url.authority, authority);
    rest.remove_prefix(authority.size());
    if (rest.starts_with('?')) url.path = "/";
    url.path.append(rest.empty() || rest == "/" ? kTracesPath : rest);
    out = std::move(url);
}

ordered_json show_endpoint(const CollectorUrl& endpoint) {
    return endpoint.text;
}

}  // namespace proxy::settings
