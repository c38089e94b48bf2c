#include "proxy/forwarding/error_answer.hpp"

namespace proxy {

unsigned status_of(FetchError error) {
    switch (error) {
        case FetchError::resolve_timeout:
        case FetchError::origin_down:
        case FetchError::connect_timeout:
        case FetchError::head_timeout:
        case FetchError::body_timeout:
            return 504;
        case FetchError::not_allowed:
        case FetchError::own_listener:
            return 403;
        case FetchError::busy:
        case FetchError::no_descriptors:
        case FetchError::abandoned:
        case FetchError::stopping:
            return 503;
        default:
            return 502;
    }
}

std::string explain(FetchError error, std::string_view host, ParseError what) {
    const auto about = [host](std::string_view before, std::string_view after) {
        return std::string(before).append(host).append(after);
    };
    switch (error) {
        case FetchError::resolve_failed:
            return about("The name ", " could not be resolved.");
        case FetchError::resolve_timeout:
            return about("No name server said in time where ", " is.");
        case FetchError::connect_failed:
            return about("The origin ", " refused the connection or is unreachable.");
        case FetchError::connect_timeout:
            return about("The origin ", " did not accept a connection in time.");
        case FetchError::tls_failed:
            return about("No secure connection to the origin ",
                         " could be made (tls_failed): the log says why.");
        case FetchError::head_timeout:
            return about("The origin ", " did not answer in time.");
        case FetchError::body_timeout:
            return about("The origin ", " stopped sending.");
        case FetchError::reset:
            return about("The origin ", " closed the connection before its answer was complete.");
        case FetchError::malformed:
            if (what == ParseError::ok)
                return about("The origin ", " sent something that is not a valid HTTP answer.");
            return about("The origin ", " sent something that is not a valid HTTP answer: ")
                .append(to_string(what))
                .append(".");
        case FetchError::not_allowed:
            return about("Requests to ",
                         ", a private address, are not forwarded (forward.private_destinations).");
        case FetchError::own_listener:
            return about("Requests to ",
                         " at this port are not forwarded: this proxy or a peer listens there.");
        case FetchError::busy:
            return about("As many requests as are allowed (limits.upstream_connections) are at ",
                         " already.");
        case FetchError::no_descriptors:
            return "This proxy has no file descriptor left for another connection.";
        case FetchError::origin_down:
            return about("The origin ",
                         " took none of the last connections (origin_down): it is tried again "
                         "every few seconds, and by this request it was not.");
        case FetchError::origin_error:
            return about("The origin ", " answered with an error.");
        case FetchError::changed:
            return about("What the origin ", " serves changed while its parts were being fetched.");
        case FetchError::not_in_parts:
            return about("The origin ", " answered a range request in a way that cannot be used.");
        case FetchError::stopping:
            return "This proxy is shutting down.";
        case FetchError::none:
        case FetchError::abandoned:
            break;
    }
    return "The request was abandoned.";
}

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

unsigned status_of(NoRoute reason) {
    switch (reason) {
        case NoRoute::forward_disabled:
            return 403;
        case NoRoute::no_origin:
            return 404;
    }
    return 500;
}

std::string explain(NoRoute reason, std::string_view host) {
    switch (reason) {
        case NoRoute::forward_disabled:
            return "This is no forward proxy (forward.enabled is false) and no entry of `origins` "
                   "matches " +
                   std::string(host) + ".";
        case NoRoute::no_origin:
            return "No entry of `origins` matches " + std::string(host) + ".";
    }
    return {};
}

}  // namespace proxy
