#include "proxy/request/inside.hpp"

#include "proxy/blocklists/normal_url.hpp"

namespace proxy {

std::string Inside::authority() const {
    if (port == default_port(Scheme::https)) return name;
    return name + ':' + std::to_string(port);
}

InsideFault judge_inside(const Inside& inside, const CacheKey& key, bool is_listed) {
    if (!is_listed) return InsideFault::ended;
    if (!inside.asked_by_name) return InsideFault::other_name;
    std::string buffer;
    const auto is_same = key.scheme() == Scheme::https && key.port() == inside.port &&
                         normal_host(key.host(), buffer).text == inside.name;
    return is_same ? InsideFault::none : InsideFault::other_target;
}

std::string explain(InsideFault fault, const Inside& inside, const CacheKey& key) {
    const auto here = "This connection was opened by CONNECT for " + inside.authority();
    switch (fault) {
        case InsideFault::other_target:
            return here + ", and takes no request for " +
                   std::string(key.scheme() == Scheme::https ? "" : "http://") +
                   std::string(key.authority()) + " (forward.intercept).";
        case InsideFault::other_name:
            return here + ", and its TLS handshake named another host (forward.intercept).";
        case InsideFault::ended:
            return here + ", which is not intercepted any more: connect again.";
        case InsideFault::none:
            break;
    }
    return {};
}

}  // namespace proxy
