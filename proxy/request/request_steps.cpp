#include "proxy/request/request_steps.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/upgrade.hpp"
#include "proxy/http/via.hpp"
#include "proxy/request/error_response.hpp"
#include "proxy/request/listed_target.hpp"
#include "proxy/request/purge_response.hpp"
#include "proxy/request/relay.hpp"
#include "proxy/request/request_access.hpp"
#include "proxy/request/request_trace.hpp"
#include "proxy/request/response_from_cache.hpp"
#include "proxy/request/response_to_peer.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;

/// The host of an HTTP/1.0 request that names none, as health checks of load balancers do: the host
/// of the origin that takes all hosts. Empty: there is none.
std::string host_of_any(const std::vector<OriginConfig>& origins) {
    const auto any = std::find_if(origins.begin(), origins.end(),
                                  [](const OriginConfig& entry) { return entry.host == "*"; });
    if (any == origins.end()) return {};
    const auto& server = any->group ? any->group->servers.front().place : any->server;
    auto host = server.text();
    const auto scheme = any->tls ? Scheme::https : Scheme::http;
    if (server.port == default_port(scheme)) host.resize(host.rfind(':'));
    return host;
}

/// The request has passed this node before.
bool has_passed(Fields request, const Config& config) {
    if (via_names(request, config.node)) return true;
    return config.forwarded.via == ViaMode::pseudonym && find(request, field::via) &&
           via_names(request, via_pseudonym(config.node));
}

}  // namespace

bool RequestSteps::run_at_once() {
    response_.reset();
    route_ = admit();
    if (route_ != Route::cache) return false;
    ResponseFromCache response(transaction_);
    if (response.respond_at_once()) return true;
    response_.emplace(std::move(response));
    return false;
}

/// The first steps: the request is understood, and its sender may ask.
RequestSteps::Route RequestSteps::admit() {
    bad_target_ = understand();
    if (!bad_target_.empty()) return Route::bad_target;
    peer_ = proven_peer(transaction_);
    if (peer_) return Route::peer;
    refusal_ = judge_client();
    if (refusal_) return Route::refused_client;
    // A peer has no limits.
    return request_.config().judges_clients ? Route::limits : choose_route();
}

/// The other steps. The first ones are about requests that the cache has no part in.
RequestSteps::Route RequestSteps::choose_route() {
    if (request_.head.verb == verb::purge) return Route::purge;
    hops_ = judge_hops();
    if (hops_ != Hops::pass_on) return Route::last_hop;
    // A stored response is given as it would be fetched: by the settings of now, or not at all.
    if (request_.site.none) return Route::no_site;
    if (is_refused_by_list()) return Route::listed;
    if (is_upgrade()) return Route::upgrade;
    return goes_past_the_cache() ? Route::past_the_cache : Route::cache;
}

asio::awaitable<void> RequestSteps::run() {
    switch (route_) {
        case Route::bad_target:
            return refuse_target();
        case Route::peer:
            return serve_peer();
        case Route::refused_client:
            return refuse_client();
        case Route::limits:
            return run_if_admitted();
        case Route::purge:
            return respond_to_purge(transaction_);
        case Route::last_hop:
            return end_here();
        case Route::no_site:
            return transaction_.refuse_without_site(*request_.site.none);
        case Route::listed:
            return refuse_listed(transaction_, *page_);
        case Route::upgrade:
            return pass_upgrade();
        case Route::past_the_cache:
            return pass_by();
        case Route::cache:
            break;
    }
    return respond_from_cache();
}

asio::awaitable<void> RequestSteps::run_if_admitted() {
    const auto place = access_target();
    const auto admitted = co_await admit_request(transaction_, place);
    if (!admitted) co_return;
    route_ = choose_route();
    co_await run();
}

/// Looks up and plans; responds from the store, or fetches or follows and responds from that.
/// Locals stay below 1,020 bytes: larger frames of coroutines are not used again.
asio::awaitable<void> RequestSteps::respond_from_cache() {
    auto response = response_ ? std::move(*response_) : ResponseFromCache(transaction_);
    response_.reset();
    if (response.is_under_way()) co_return co_await response.respond_with_rest();
    while (response.may_look_up()) {
        response.look_up();
        if (response.is_on_disk()) co_await response.recall();
        if (transaction_.stats.aborted) co_return;
        response.select_variant();
        const auto plan = response.plan();
        auto served = ServeResult::responded;
        if (!plan.serves())
            served = co_await response.fetch_or_follow(plan);
        else if (is_too_young(response))
            co_await transaction_.refuse_too_young(page_->text);
        else if (response.is_in_blocks())
            served = co_await response.respond_in_blocks();
        else
            co_await response.respond_whole();
        if (served == ServeResult::responded) co_return;
        if (served == ServeResult::alone) break;
    }
    co_await relay_to_origin(transaction_, response.forward(), Outcome::origin_fetch, {},
                             &response);
}

/// The head becomes key, directives and form of the target. Returns the fault in it, or
/// nothing.
std::string_view RequestSteps::understand() {
    const auto& head = request_.head;
    if (request_.config().tracing) begin_trace(transaction_);
    const auto bad = find_target();
    if (bad != TargetError::none) return to_string(bad);
    auto& policy = request_.site.policy;
    choose_rule(request_.config(), head.method, request_.key, policy, &service_.last_host);
    const HopByHop hop_by_hop(head.fields);
    if (hop_by_hop.too_many()) return "too many connection options";
    request_.hash = service_.cache.shared.key_hasher(request_.key.uri());
    const auto is_immutable = policy.rule && policy.rule->storing.immutable;
    request_.directives = request_directives(
        head.fields, is_immutable ? ClientDirectives::shield : policy.cache->client_directives);
    return {};
}

/// Sets key and site. The target URI is the one that the client has asked for, of this node or of a
/// trusted proxy before it: redirections and links in the response depend on it, so it is the key.
/// The proxy's statement counts for hosts that an entry of `origins` serves, unless this node is to
/// state it anew; the connection's own TLS stays https.
TargetError RequestSteps::find_target() {
    const auto& head = request_.head;
    const auto& config = request_.config();
    const auto* line = find(head.fields, field::host);
    std::string named;
    if (!line && head.version < 11)
        named = request_.inside ? request_.inside->authority() : host_of_any(config.origins);
    const auto host = line ? line->value : std::string_view(named);
    const auto own = request_.scheme;
    const auto path_alone = head.target.starts_with('/') || head.target == "*";
    // HTTP/2 states scheme and authority beside the path, to an origin as to a forward proxy.
    const auto absolute =
        !path_alone || request_.inside || (head.version >= 20 && config.forward.enabled);
    const auto take = [&](Scheme scheme, std::string_view by_host) {
        const auto error = request_.key.assign(scheme, head.verb, head.target, by_host);
        if (error != TargetError::none) return error;
        request_.site = choose_site(config, request_.key, absolute);
        if (path_alone && !request_.inside)
            follow_ns(config, head.verb, request_.key, request_.site);
        return error;
    };
    if (path_alone && request_.requester.through_trusted_proxy() &&
        config.forwarded.origins != ForwardedMode::replace) {
        const auto stated = stated_target(head.fields);
        const auto scheme = own == Scheme::https ? own : stated.scheme.value_or(own);
        const auto is_served = [&](std::string_view by_host) {
            return take(scheme, by_host) == TargetError::none && request_.site.of_entry();
        };
        const auto states_host = !stated.host.empty() && is_served(stated.host);
        if (states_host || (stated.scheme && is_served(host))) {
            request_.note_stated({stated.scheme.has_value(), states_host});
            return TargetError::none;
        }
    }
    return take(own, host);
}

asio::awaitable<void> RequestSteps::refuse_target() {
    transaction_.note_refusal(RequestRefusal::malformed);
    transaction_.connection.retire();  // bytes behind this request may be as bad
    std::string text("The request target is refused: ");
    text.append(bad_target_).append(".");
    co_await transaction_.refuse(400, text);
}

/// A token lets a peer ask, and nothing else.
asio::awaitable<void> RequestSteps::serve_peer() {
    const auto asks = request_.head.verb == verb::get || request_.head.verb == verb::head;
    if (!asks || !request_.body->done()) {
        transaction_.note_refusal(RequestRefusal::malformed);
        co_await transaction_.refuse(400, "A peer request is a GET or HEAD without a body.");
        co_return;
    }
    request_.from_peer = true;
    request_.drop_own_trace();  // a trace begins at its client
    transaction_.connection.peer_proven();
    request_.rewrite_forwarded();
    co_await respond_to_peer(transaction_, *peer_);
}

/// Why this client may not ask, if so. A right to ask in origin-form, or for stored content, is
/// a right to have it fetched.
std::optional<RequestRefusal> RequestSteps::judge_client() {
    auto& requester = request_.requester;
    const auto& config = request_.config();
    requester.look(config, request_.head.fields);
    if (!requester.rights().ask) return RequestRefusal::client;
    if (request_.inside && request_.inside.judge(request_.key) != InterceptMismatch::none)
        return RequestRefusal::misdirected;
    if (has_passed(request_.head.fields, config)) return RequestRefusal::loop;
    if (request_.head.verb == verb::purge) return std::nullopt;  // has a rule of its own
    if (claims_tls()) return RequestRefusal::misdirected;
    if (!request_.site.of_entry() && config.forward.enabled && !requester.rights().forward)
        return RequestRefusal::forward_client;
    return std::nullopt;
}

/// A request in the clear names an https resource of a site, for which the node speaks as its
/// origin (RFC 9110 §7.4). A forward client may do so: there the node fetches over TLS itself.
bool RequestSteps::claims_tls() const {
    return request_.key.scheme() == Scheme::https && request_.site.of_entry() &&
           !transaction_.connection.encrypted() && !request_.requester.through_trusted_proxy();
}

/// A PURGE has a rule of its own, and a request without a site gets no further.
AccessTarget RequestSteps::access_target() const {
    const auto is_forward =
        !request_.site.of_entry() && !request_.site.none && request_.head.verb != verb::purge;
    return {request_.key.host(), request_.key.port(), is_forward};
}

/// True: `page_` is for a target that a blocklist refuses. Blocklists are for forward targets. A
/// site of the configuration is the operator's own choice.
bool RequestSteps::is_refused_by_list() {
    if (request_.site.of_entry() || !service_.settings.files().blocklists) return false;
    page_ = judge_by_blocklists(transaction_, request_.key.host(), request_.key.path());
    return page_.has_value();
}

/// True: `page_` has the text for a stored response that a rule refuses as too young.
bool RequestSteps::is_too_young(const ResponseFromCache& response) {
    if (!transaction_.judges_age()) return false;
    auto why = response.why_too_young();
    if (!why) return false;
    page_ = ListedPage{403, std::move(*why)};
    return true;
}

asio::awaitable<void> RequestSteps::refuse_client() {
    const auto reason = *refusal_;
    transaction_.note_refusal(reason);
    if (reason == RequestRefusal::loop) {
        const auto text = "A loop: Via says that this request has passed the node " +
                          request_.config().node + " before.";
        co_await transaction_.refuse(508, text);
        co_return;
    }
    if (reason == RequestRefusal::misdirected) co_return co_await refuse_misdirected();
    const auto text = explain_refused_client(reason, request_.requester.described());
    auto status = kOwnAnswer;
    status.detail = to_string(reason);
    co_await transaction_.refuse(403, text, status);
}

/// RFC 9110 §15.5.20: the client may send the request again on another connection.
asio::awaitable<void> RequestSteps::refuse_misdirected() {
    auto status = kOwnAnswer;
    std::string text(
        "This connection is in the clear, and the request is for an https URL: send it over TLS, "
        "or through a proxy in clients.trusted_proxies.");
    if (request_.inside) {
        const auto& inside = *request_.inside;
        const auto fault = request_.inside.judge(request_.key);
        if (fault != InterceptMismatch::other_target) transaction_.connection.retire();
        text = explain(fault, inside, request_.key);
    }
    status.detail = to_string(RequestRefusal::misdirected);
    co_await transaction_.refuse(421, text, status);
}

/// RFC 9110 §7.6.2. An OPTIONS of the server as a whole is for this node where no origin stands
/// behind it (§9.3.7). TRACE, and TRACK of old servers, would show the client what comes behind it:
/// the fields that rules and proxies add, such as passwords. Some origins take `trace` for TRACE.
RequestSteps::Hops RequestSteps::judge_hops() {
    if (is_get_or_head()) return Hops::pass_on;
    const auto& head = request_.head;
    if (iequals(head.method, "TRACE") || iequals(head.method, "TRACK")) return Hops::echo;
    if (head.verb != verb::options) return Hops::pass_on;
    if (head.target == "*" && !request_.site.of_entry()) return Hops::last_hop;
    const auto limit = max_forwards(head.fields);
    if (limit.state == MaxForwards::State::malformed) return Hops::malformed;
    if (limit.state != MaxForwards::State::present) return Hops::pass_on;
    if (limit.hops == 0) return Hops::last_hop;
    max_forwards_ = std::to_string(limit.hops - 1);
    for (auto& line : request_.head.fields)
        if (line.id == field::max_forwards) line.value = max_forwards_;
    return Hops::pass_on;
}

asio::awaitable<void> RequestSteps::end_here() {
    if (hops_ == Hops::malformed) {
        // The node cannot keep a limit that it cannot read. The next hop may be further than
        // the sender meant.
        transaction_.note_refusal(RequestRefusal::malformed);
        co_await transaction_.refuse(400, "Max-Forwards must be one number.");
        co_return;
    }
    std::string fields = "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    fields.append(request_.config().forward.enabled ? ", CONNECT\r\n" : "\r\n");
    if (hops_ == Hops::echo) {
        transaction_.note_refusal(RequestRefusal::not_implemented);
        const std::string text(
            "This node passes no TRACE on: the answer could show fields that it adds.");
        co_await transaction_.refuse(405, text, kOwnAnswer, fields);
        co_return;
    }
    transaction_.stats.outcome = Outcome::uncacheable;
    co_await transaction_.respond(200, fields, {});
}

bool RequestSteps::is_upgrade() const {
    const auto wish = upgrade_wish(request_.head.fields, request_.head.version,
                                   request_.config().protocols.upgrade);
    return wish.state == UpgradeDecision::State::refused ||
           (wish.state == UpgradeDecision::State::allowed && transaction_.opener &&
            request_.body->done());
}

asio::awaitable<void> RequestSteps::pass_upgrade() {
    auto wish = upgrade_wish(request_.head.fields, request_.head.version,
                             request_.config().protocols.upgrade);
    if (wish.state == UpgradeDecision::State::refused) {
        transaction_.note_refusal(RequestRefusal::upgrade);
        co_await transaction_.refuse(403, "WebSockets are not let through (upgrade).");
        co_return;
    }
    request_.rewrite_forwarded();
    co_await relay_to_origin(transaction_, Forward::bypass, Outcome::uncacheable,
                             std::move(wish.protocols));
}

bool RequestSteps::is_get_or_head() const {
    return request_.head.verb == verb::get || request_.head.verb == verb::head;
}

bool RequestSteps::goes_past_the_cache() const {
    if (is_get_or_head() && !request_.body->done()) request_.body->take_empty();
    return !is_get_or_head() || !request_.body->done() || request_.directives.no_store ||
           request_.site.policy.bypasses() || request_.is_logged_in();
}

asio::awaitable<void> RequestSteps::pass_by() {
    request_.rewrite_forwarded();
    co_await relay_to_origin(transaction_, is_get_or_head() ? Forward::bypass : Forward::method,
                             Outcome::uncacheable);
}

}  // namespace proxy
