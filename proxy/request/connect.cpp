#include "proxy/request/connect.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "proxy/access/intercepted.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/request/error_response.hpp"
#include "proxy/request/intercept.hpp"
#include "proxy/request/listed_target.hpp"
#include "proxy/request/request_access.hpp"
#include "proxy/request/request_trace.hpp"
#include "proxy/request/tunnel.hpp"
#include "proxy/tls/tls_contexts.hpp"
#include "proxy/upstream/origin_permit.hpp"
#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

namespace {

/// Why a CONNECT is refused, if so.
struct ConnectRefusal {
    RequestRefusal reason;
    unsigned status;
    std::string text;
};

std::optional<ConnectRefusal> judge_connect(const Request& request, Authority& authority) {
    const auto& fields = request.head.fields;
    const auto& forward = request.config().forward;
    if (request.inside)
        return ConnectRefusal{RequestRefusal::no_route, 403,
                              "There are no tunnels inside a connection to " +
                                  request.inside->authority() + " (forward.intercept)."};
    if (!request.requester.rights().ask)
        return ConnectRefusal{
            RequestRefusal::client, 403,
            explain_refused_client(RequestRefusal::client, request.requester.described())};
    // RFC 9110 §9.3.6: a CONNECT has no content. Both meanings of the bytes behind the head, by a
    // length and by the client, could differ. A length of 0, which some clients send, leaves one.
    const auto framed =
        find(fields, field::transfer_encoding) ||
        (find(fields, field::content_length) && only_value(fields, field::content_length) != "0");
    const auto bad = parse_connect_target(request.head.target, authority);
    if (bad != TargetError::none || framed) {
        std::string text("The CONNECT request is refused: ");
        text.append(bad != TargetError::none ? to_string(bad) : "it has content").append(".");
        return ConnectRefusal{RequestRefusal::malformed, 400, std::move(text)};
    }
    // 403, as for other requests that a forward proxy would take: the method is known here, and
    // 405 would promise that another one helps.
    if (!forward.enabled)
        return ConnectRefusal{RequestRefusal::no_route, 403,
                              "This is no forward proxy (forward.enabled is false), so it opens no "
                              "tunnels. A client of its sites asks for them without a proxy."};
    if (!request.requester.rights().forward)
        return ConnectRefusal{RequestRefusal::forward_client, 403,
                              "This is no forward proxy for " + request.requester.described() +
                                  " (forward.clients), so it opens no tunnels."};
    const auto& ports = forward.connect_ports;
    if (std::find(ports.begin(), ports.end(), authority.port) == ports.end()) {
        const auto port = std::to_string(authority.port);
        return ConnectRefusal{RequestRefusal::destination, 403,
                              "Tunnels to port " + port +
                                  " are not allowed: forward.connect_ports lists those that are, "
                                  "and lacks " +
                                  port + "."};
    }
    return std::nullopt;
}

}  // namespace

asio::awaitable<void> serve_connect(Transaction& transaction) {
    auto& service = transaction.service;
    auto& request = transaction.request;
    const auto& config = transaction.config();
    if (config.tracing) begin_trace(transaction);
    request.requester.look(config, request.head.fields);
    Authority authority;
    if (const auto refusal = judge_connect(request, authority)) {
        transaction.note_refusal(refusal->reason);
        auto status = kOwnAnswer;
        status.detail = to_string(refusal->reason);
        co_await transaction.refuse(refusal->status, refusal->text, status);
        co_return;
    }
    if (config.judges_clients) {
        const AccessTarget place{authority.host, authority.port, true};
        const auto admitted = co_await admit_request(transaction, place);
        if (!admitted) co_return;
    }
    // Nobody but client and origin knows the path.
    if (const auto page = judge_by_blocklists(transaction, authority.host, std::nullopt))
        co_return co_await refuse_listed(transaction, *page);
    // A reload during the admission may have ended the interception.
    const auto& tls = service.settings.files().tls;
    auto name = intercepted_name(config.forward, authority.host, authority.port);
    if (name && tls && tls->interception)
        co_return co_await intercept_connect(transaction, std::move(*name), authority.port);
    UpstreamTarget target{{{}, authority.port}, true};
    append_lower(target.host, authority.address());
    target.client = request.requester.text();
    target.tunnel = true;
    const auto& forward = config.forward;
    if (forward.parents && !forward.no_proxy.contains(target.host)) target.group = forward.parents;
    target.key = connection_key(target);
    OriginPermit asked(service.upstream, target);
    const auto deadline = Clock::now() + config.timeouts.origin_connect;
    UpstreamPool::Result<UpstreamPtr> acquired = FetchError::origin_down;
    while (asked.allowed()) {
        acquired = co_await service.upstream.pool.acquire(
            asked.target(), asked.connect_by(deadline), ConnectionReuse::none);
        if (acquired || !asked.goes_on_after(acquired.error())) break;
    }
    asked.ended(acquired ? FetchError::none : acquired.error());
    if (!acquired) {
        const auto error = acquired.error();
        CacheStatus status;
        status.forward = went_forward(error) ? Forward::method : Forward::nowhere;
        status.detail = to_string(error);
        const auto place = target.port == default_port(Scheme::https) ? std::string(authority.host)
                                                                      : target.text();
        co_await transaction.refuse_fetch(error, place, asked_server(target), status);
        co_return;
    }
    const auto upstream = std::move(*acquired);
    transaction.stats.details.note_server(upstream->address);
    upstream->deadline.clear();
    co_await run_tunnel(transaction, *upstream, 200, {});
}

}  // namespace proxy
