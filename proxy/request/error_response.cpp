#include "proxy/request/error_response.hpp"

namespace proxy {

unsigned status_of(ParseError error) {
    switch (error) {
        case ParseError::unsupported_version:
            return 505;
        case ParseError::unsupported_coding:
            return 501;
        case ParseError::head_too_large:
            return 431;
        case ParseError::target_too_long:
            return 414;
        default:
            return 400;
    }
}

RequestRefusal refusal_of(ParseError error) {
    switch (error) {
        case ParseError::unsupported_version:
            return RequestRefusal::version;
        case ParseError::unsupported_coding:
            return RequestRefusal::not_implemented;
        case ParseError::head_too_large:
        case ParseError::target_too_long:
            return RequestRefusal::too_large;
        default:
            return RequestRefusal::malformed;
    }
}

unsigned status_of(SiteRefusal reason) {
    switch (reason) {
        case SiteRefusal::forward_disabled:
            return 403;
        case SiteRefusal::no_origin:
        case SiteRefusal::only_forward:
        case SiteRefusal::two_readings:
        case SiteRefusal::unknown_registry:
            return 404;
    }
    return 500;
}

std::string explain(SiteRefusal reason, std::string_view host) {
    switch (reason) {
        case SiteRefusal::forward_disabled:
            return "This is no forward proxy (forward.enabled is false) and no entry of `origins` "
                   "matches " +
                   std::string(host) +
                   ". An entry for this host makes it a site of this node; forward.enabled lets "
                   "clients use the node as their proxy.";
        case SiteRefusal::no_origin:
            return "No entry of `origins` matches " + std::string(host) +
                   " and this path. Is the host misspelt, or does the node still need an entry for "
                   "it?";
        case SiteRefusal::only_forward:
            return "This node is a forward proxy and serves no site itself. A client uses it as "
                   "its "
                   "proxy: set it in the browser, in http_proxy, or with curl -x. (A node that "
                   "serves " +
                   std::string(host) + " needs an entry in `origins`.)";
        case SiteRefusal::two_readings:
            return "Origins read the path of this URL in several ways, and `origins` has different "
                   "entries for these. Escaped slashes, backslashes, parameters (;) and dot "
                   "segments do this.";
        case SiteRefusal::unknown_registry:
            return "The request names a registry in `ns` that this mirror does not serve. An entry "
                   "of `origins` with `public` and this `ns` adds it.";
    }
    return {};
}

std::string explain_refused_client(RequestRefusal reason, const std::string& client) {
    if (reason == RequestRefusal::client)
        return "This proxy is not for " + client + " (clients.allow, clients.deny).";
    return "This is no forward proxy for " + client + " (forward.clients).";
}

}  // namespace proxy
