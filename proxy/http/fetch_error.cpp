#include "proxy/http/fetch_error.hpp"

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
        case FetchError::backed_off:
        case FetchError::busy:
        case FetchError::no_descriptors:
        case FetchError::abandoned:
        case FetchError::stopping:
            return 503;
        default:
            return 502;
    }
}

namespace {

/// The machine that fails before a tunnel is open.
std::string_view first_server(UpstreamRole asked) {
    switch (asked) {
        case UpstreamRole::member:
            return "The server that was asked for ";
        case UpstreamRole::parent:
        case UpstreamRole::tunnel:
            return "The parent proxy for ";
        case UpstreamRole::origin:
            break;
    }
    return "The origin for ";
}

/// The machine that answers requests.
std::string_view answering_server(UpstreamRole asked) {
    switch (asked) {
        case UpstreamRole::member:
            return "The server that was asked for ";
        case UpstreamRole::parent:
            return "The parent proxy for ";
        case UpstreamRole::tunnel:
            return "Behind the tunnel of a parent proxy, the origin ";
        case UpstreamRole::origin:
            break;
    }
    return "The origin ";
}

}  // namespace

std::string explain(FetchError error, std::string_view host, ParseError what, UpstreamRole asked) {
    const auto about = [host](std::string_view before, std::string_view after) {
        return std::string(before).append(host).append(after);
    };
    const auto first = first_server(asked), answering = answering_server(asked);
    switch (error) {
        case FetchError::resolve_failed:
            return asked == UpstreamRole::origin
                       ? about("The name of the origin for ", " could not be resolved.")
                       : about(first, " has a name that could not be resolved.");
        case FetchError::resolve_timeout:
            return asked == UpstreamRole::origin
                       ? about("No name server said in time where the origin for ", " is.")
                       : about(first, " has a name that no name server resolved in time.");
        case FetchError::connect_failed:
            return about(first, " refused the connection or is unreachable.");
        case FetchError::connect_timeout:
            return about(first, " did not accept a connection in time.");
        case FetchError::tls_failed:
            return about("No secure connection to the origin ",
                         " could be made (tls_failed): the log says why.");
        case FetchError::parent_tls_failed:
            return about("No secure connection to the parent proxy for ",
                         " could be made (parent_tls_failed): the log says why.");
        case FetchError::head_timeout:
            return about(answering, " did not answer in time.");
        case FetchError::body_timeout:
            return about(answering, " stopped sending.");
        case FetchError::reset:
            return about(answering, " closed the connection before its answer was complete.");
        case FetchError::malformed:
            if (what == ParseError::ok)
                return about(answering, " sent something that is not a valid HTTP answer.");
            return about(answering, " sent something that is not a valid HTTP answer: ")
                .append(to_string(what))
                .append(".");
        case FetchError::not_allowed:
            return about("Requests to ",
                         ", a private address, are not forwarded (forward.private_destinations).");
        case FetchError::own_listener:
            return about("Requests to ", " are not forwarded: this proxy or a peer listens there.");
        case FetchError::busy:
            return about("As many requests as are allowed (limits.upstream_connections) are at ",
                         " already.");
        case FetchError::no_descriptors:
            return "This proxy has no file descriptor left for another connection.";
        case FetchError::origin_down:
            return about("The origin ",
                         " took none of the last connections (origin_down): it is tried again "
                         "every few seconds, and by this request it was not.");
        case FetchError::backed_off:
            return about("The origin ",
                         " has answered 429 or 503 lately, or other errors slowly (backed_off): "
                         "this request was not put to it.");
        case FetchError::origin_error:
            return about("The origin ", " answered with an error.");
        case FetchError::changed:
            return about("What the origin ", " serves changed while its parts were being fetched.");
        case FetchError::part_refused:
            return about("The origin ", " refused a part of what it had begun to send.");
        case FetchError::not_in_parts:
            return about("The origin ", " answered a range request in a way that cannot be used.");
        case FetchError::parent_refused:
            return about("The parent proxy could open no tunnel to ",
                         " (parent_refused): the log has its status.");
        case FetchError::parent_denied:
            return about("The parent proxy does not allow a tunnel to ",
                         " (parent_denied). The log has its status; 407 is about the credentials "
                         "in forward.parent.");
        case FetchError::stopping:
            return "This proxy is shutting down.";
        case FetchError::none:
        case FetchError::abandoned:
            break;
    }
    return "The request was abandoned.";
}

std::string explain_tls(std::string_view host, std::string_view why) {
    return std::string("No secure connection to the origin ")
        .append(host)
        .append(" could be made (tls_failed): ")
        .append(why)
        .append(".");
}

}  // namespace proxy
