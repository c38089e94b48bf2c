#pragma once

#include <optional>
#include <variant>

#include "proxy/config/config.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/net/tls_contexts.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// Why there is nowhere to send a request.
enum class NoRoute {
    forward_disabled,  // absolute-form, and this node is no forward proxy: 403
    no_origin,         // origin-form for a host that no origin entry matches: 404
    only_forward,      // origin-form, and this node is a forward proxy without origins: 404
};

/// Where a request goes when it must go to the origin: the first origin entry that matches the
/// target's host, whatever the form of the request; else, with forward mode on, the target itself.
/// The entry's `url` says whether it is reached by TLS; of a target itself, its scheme.
using OriginRoute = std::variant<UpstreamTarget, NoRoute>;

/// Why a target that no origin entry matches leads nowhere, if so.
inline std::optional<NoRoute> why_nowhere(const Config& config, bool absolute_form) {
    if (!absolute_form)
        return config.origins.empty() && config.forward.enabled ? NoRoute::only_forward
                                                                : NoRoute::no_origin;
    if (!config.forward.enabled) return NoRoute::forward_disabled;
    return std::nullopt;
}

/// `client`: its address.
inline OriginRoute route_to_origin(const Config& config, const CacheKey& key, bool absolute_form,
                                   const std::string& client = {}) {
    if (const auto* origin = match_origin(config.origins, key.host())) {
        UpstreamTarget target{origin->server};
        if (origin->tls) {
            const auto index = static_cast<std::size_t>(origin - config.origins.data());
            target.tls = config.tls_contexts->origins.at(index);
        }
        return target;
    }
    if (const auto none = why_nowhere(config, absolute_form)) return *none;
    UpstreamTarget target{{std::string(key.address()), key.port()}, true};
    if (key.scheme() == Scheme::https) target.tls = config.tls_contexts->forward;
    target.client = client;
    return target;
}

}  // namespace proxy
