#include "proxy/config/config_origins.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

/// http[s]://host[:port][/]
void read_origin_url(ConfigSection& in, OriginConfig& out) {
    in.require("url");
    const auto url = in.text("url");
    if (!url) return;
    static const std::string kExpected = "must be http[s]://host or http[s]://host:port";
    CacheKey target;
    const auto error = target.assign_url(*url);
    if (error != TargetError::none) {
        return in.fail("url", kExpected + ": " + std::string(to_string(error)));
    }
    if (target.path() != "/") return in.fail("url", kExpected + ", without a path");
    out.server = {std::string(target.address()), target.port()};
    if (target.scheme() == Scheme::https) out.tls.emplace();
}

void read_origin_tls(ConfigSection& in, std::optional<OriginTlsConfig>& out) {
    auto tls = in.section("tls");
    if (!tls) return;
    if (!out && !in.failed("url")) in.fail("tls", "is only for a url that begins with https://");
    OriginTlsConfig read;
    tls->read("verify", read.verify);
    if (const auto ca = tls->text("ca")) {
        if (ca->empty()) tls->fail("ca", "must be a file or a directory");
        read.ca = *ca;
    }
    if (const auto name = tls->text("name")) {
        Authority authority;
        if (parse_authority(*name, authority) != TargetError::none || authority.host != *name)
            tls->fail("name", "must be a host name without a port");
        read.name = *name;
    }
    tls->done();
    if (out) out = std::move(read);
}

}  // namespace

void read_origins(ConfigContext& context, ConfigSection& root, std::vector<OriginConfig>& out) {
    for (const auto& [value, path] : root.elements("origins")) {
        ConfigSection in(context, *value, path);
        OriginConfig origin;
        in.require("host");
        if (const auto host = in.text("host")) {
            Authority authority;
            if (*host != "*" && (parse_authority(*host, authority) != TargetError::none ||
                                 authority.host != *host)) {
                in.fail("host", "must be a host name without a port, or \"*\"");
            }
            append_lower(origin.host, *host);
        }
        read_origin_url(in, origin);
        read_origin_tls(in, origin.tls);
        in.done();
        out.push_back(std::move(origin));
    }
}

}  // namespace proxy
