#include "proxy/request/request_stats.hpp"

#include "base/memory/kept_memory.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/telemetry/access_log.hpp"
#include "proxy/upstream/peer_probe.hpp"
#include "proxy/upstream/shown_url.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

std::string_view value_or_empty(Fields fields, field id) {
    const auto* found = find(fields, id);
    return found ? found->value : std::string_view();
}

/// As `network.protocol.version` has it.
std::string_view version_text(int version) {
    if (version >= 20) return "2";
    return version == 10 ? "1.0" : "1.1";
}

/// The host and port of a CONNECT, which has no URL.
void add_target(OpenSpan& span, const Head& connect) {
    Authority target;
    if (!span || parse_connect_target(connect.target, target) != TargetError::none) return;
    std::string host;
    append_lower(host, target.address());
    span.add("server.address", host);
    span.add_number("server.port", target.port);
}

}  // namespace

void LogDetails::clear() {
    for (auto* text : {&server, &content_type, &cache_status}) text->clear();
    peers_asked.reset();
    blocklist.reset();
    redirects = 0;
    rewritten = validated = client_reload = false;
}

void RequestStats::begin(std::chrono::steady_clock::time_point now) {
    begun = now;
    status = 0;
    from = {};
    outcome = Outcome::error;
    cache = CacheResult::bypass;
    source = Source::none;
    peer.clear();
    aborted = intercepted = own_body = cut = false;
    tunnel_bytes = 0;
    leader = {};
    details.clear();
}

void LogDetails::note_type(const StoredMetadata& response) {
    const auto fields = response.fields();
    content_type = value_or_empty(fields, field::content_type);
    rewritten = response.by_rule_alone;
}

void RequestStats::settle() {
    const auto looked_up = outcome == Outcome::local_hit || outcome == Outcome::peer_hit ||
                           outcome == Outcome::origin_fetch;
    const auto most = from.most();
    if (looked_up && most != Source::none) {
        source = most;
        outcome = outcome_of(most);
    }
    if (looked_up && cut) outcome = Outcome::error;
}

void RequestStats::close(ClientService& service, Request& request, const ResponseWriter& writer) {
    count(service, request, writer);
    request.share.reset();
}

void RequestStats::count(ClientService& service, const Request& request,
                         const ResponseWriter& writer) {
    const auto duration = std::chrono::steady_clock::now() - begun;
    auto& counters = service.counters;
    const auto bytes = writer.body_bytes() + tunnel_bytes;
    settle();
    if (aborted && writer.sent_bytes() == 0) outcome = Outcome::error;
    if (request.trace().spans) end_span(request, writer);
    const auto is_probe = request.key.uri() == kProbeTarget;
    // The HEAD of a peer only looks: for `explain`, or as a sample.
    const auto looks = is_probe || request.head.verb == boost::beast::http::verb::head;
    if (looks && request.from_peer) return;
    if (is_probe && (outcome == Outcome::error || outcome == Outcome::refused)) {
        // A peer's probe may come before this worker knows the token in it, so it does not count.
        // The access log has a line for it, because anybody can send such a request.
    } else if (request.from_peer) {
        const auto is_refusal = own_body && status == 504;
        if (!is_refusal) counters.bytes_to_peers += bytes;  // the asking peer counts alike
    } else if (intercepted && outcome == Outcome::uncacheable) {
        // The requests inside this CONNECT count; it has its line in the access log.
    } else {
        ++counters.requests[outcome];
        if (request.inside) ++counters.intercepted_requests;
        counters.observe(outcome, duration, request.trace());
        const auto content = own_body ? 0 : bytes;
        counters.bytes_to_clients += content;
        note_site(service, request, content);
    }
    if (service.shared.access_log.enabled()) log(service, request, writer, duration);
}

void RequestStats::note_site(ClientService& service, const Request& request,
                             std::uint64_t bytes) const {
    if (!request.settings) return;
    const auto& site = request.site;
    const auto has_site = !site.none && !request.key.uri().empty();
    service.site_counts.count(request.settings, site.entry, has_site, site.policy.rule, outcome,
                              bytes);
    if (!service.top.is_turn()) return;
    const auto& admin = request.config().admin;
    std::string scratch;
    service.top.note(admin ? &*admin : nullptr, shown_url(request.key, site.policy, scratch),
                     request.requester.text());
}

void RequestStats::end_span(const Request& request, const ResponseWriter& writer) const {
    constexpr unsigned kServerErrors = 500;
    const auto name = request.from_peer ? "peer request" : "client request";
    auto span = OpenSpan::of_request(request.trace(), name, begun);
    span.add("http.request.method", request.head.method);
    std::string scratch;
    span.add("url.full", shown_url(request.key, request.site.policy, scratch));
    if (request.head.verb == boost::beast::http::verb::connect) add_target(span, request.head);
    if (status != 0) span.add_number("http.response.status_code", status);
    span.add("network.protocol.version", version_text(request.head.version));
    span.add("client.address", request.requester.text());
    span.add_number("http.response.body.size", writer.body_bytes() + tunnel_bytes);
    span.add("hearsay.outcome", to_string(outcome));
    span.add("hearsay.cache", to_string(cache));
    span.add("hearsay.source", to_string(source));
    if (const auto* rule = request.site.policy.rule) span.add("hearsay.rule", rule->name);
    span.add("hearsay.peer", peer);
    span.add("hearsay.origin", details.server);
    if (aborted) span.add_flag("hearsay.aborted", true);
    span.link(leader);
    if (cut)
        span.fail("cut_short");
    else if (status >= kServerErrors && !request.from_peer)
        span.fail(std::to_string(status));
}

void RequestStats::log(ClientService& service, const Request& request, const ResponseWriter& writer,
                       std::chrono::nanoseconds duration) const {
    const auto& head = request.head;
    AccessRecord record;
    record.ts = std::chrono::system_clock::now() -
                std::chrono::duration_cast<std::chrono::system_clock::duration>(duration);
    record.duration = duration;
    record.request.client = request.requester.text();
    if (request.share) record.request.user = request.share->user;
    record.request.method = head.method;
    std::string target;
    record.request.url = shown_url(request.key, request.site.policy, target);
    if (record.request.url.empty() && request.settings)
        record.request.url = target = shown_text(request.config().rules, head.target);
    record.request.version = static_cast<unsigned>(head.version);
    record.response.status = status;
    record.response.bytes = writer.body_bytes() + tunnel_bytes;
    record.response.sent = writer.sent_bytes() + tunnel_bytes;
    record.handling.outcome = outcome;
    record.handling.cache = cache;
    record.handling.source = source;
    record.handling.peer = peer;
    if (details.peers_asked && !details.peers_asked->all().empty()) {
        const auto* asked = details.peers_asked->last_to(peer);
        if (!asked) asked = &details.peers_asked->all().back();
        record.handling.peer = asked->node;
        record.handling.peer_verdict = asked->verdict;
        record.handling.peers_asked = details.peers_asked.get();
    }
    record.handling.origin = details.server;
    if (const auto* rule = request.site.policy.rule) record.handling.rule = rule->name;
    record.request.role = request.from_peer ? Role::peer : Role::client;
    record.response.content_type = details.content_type;
    std::string referer;
    record.request.referer = value_or_empty(head.fields, field::referer);
    if (!record.request.referer.empty())
        record.request.referer = referer =
            shown_text(request.config().rules, record.request.referer);
    record.request.user_agent = value_or_empty(head.fields, field::user_agent);
    record.request.trace = request.trace().context.trace;
    record.handling.redirects = details.redirects;
    record.response.rewritten = details.rewritten && request.site.policy.mirror;
    record.handling.validated = details.validated;
    record.request.client_reload = details.client_reload;
    record.response.cache_status = details.cache_status;
    if (details.blocklist) record.handling.blocklist = *details.blocklist;
    record.response.aborted = aborted;
    record.request.intercepted = intercepted || request.inside;
    service.shared.access_log.write(record);
}

std::size_t LogDetails::kept_bytes() const {
    return base::kept_bytes(server) + base::kept_bytes(content_type) +
           base::kept_bytes(cache_status);
}

void LogDetails::give_back() {
    for (auto* text : {&server, &content_type, &cache_status}) base::give_back(*text);
}

std::size_t RequestStats::kept_bytes() const {
    return base::kept_bytes(peer) + details.kept_bytes();
}

void RequestStats::give_back() {
    base::give_back(peer);
    details.give_back();
}

}  // namespace proxy
