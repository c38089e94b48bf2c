#include "proxy/request/intercepted_connect.hpp"

#include "proxy/access/intercepted.hpp"
#include "proxy/blocklists/normal_url.hpp"

namespace proxy {

std::string InterceptedConnect::authority() const {
    if (port == default_port(Scheme::https)) return name;
    return name + ':' + std::to_string(port);
}

InterceptMismatch judge_intercepted(const InterceptedConnect& inside, const CacheKey& key,
                                    bool is_listed) {
    if (!is_listed) return InterceptMismatch::ended;
    if (!inside.asked_by_name) return InterceptMismatch::other_name;
    std::string buffer;
    const auto is_same = key.scheme() == Scheme::https && key.port() == inside.port &&
                         normal_host(key.host(), buffer).text == inside.name;
    return is_same ? InterceptMismatch::none : InterceptMismatch::other_target;
}

void EnclosingConnect::settle(const ForwardConfig& forward) {
    is_listed_ =
        connect_ && intercepting_pattern(forward, connect_->name, connect_->port) != nullptr;
}

std::string explain(InterceptMismatch fault, const InterceptedConnect& inside,
                    const CacheKey& key) {
    const auto here = "This connection was opened by CONNECT for " + inside.authority();
    switch (fault) {
        case InterceptMismatch::other_target:
            return here + ", and takes no request for " +
                   std::string(key.scheme() == Scheme::https ? "" : "http://") +
                   std::string(key.authority()) + " (forward.intercept).";
        case InterceptMismatch::other_name:
            return here + ", and its TLS handshake named another host (forward.intercept).";
        case InterceptMismatch::ended:
            return here + ", which is not intercepted any more: connect again.";
        case InterceptMismatch::none:
            break;
    }
    return {};
}

}  // namespace proxy
