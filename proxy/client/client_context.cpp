#include "proxy/client/client_context.hpp"

#include <algorithm>
#include <utility>

#include "proxy/client/error_response.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/number.hpp"
#include "proxy/net/wall_clock.hpp"
#include "proxy/upstream/peer_probe.hpp"

namespace proxy {
namespace {

using namespace std::string_view_literals;  // appended without counting
using boost::beast::http::field;

std::string_view value_or_empty(Fields fields, field id) {
    const auto* found = find(fields, id);
    return found ? found->value : std::string_view();
}

}  // namespace

void Transaction::settle() {
    const auto looked_up = outcome == Outcome::local_hit || outcome == Outcome::peer_hit ||
                           outcome == Outcome::origin_fetch;
    const auto most = from.most();
    if (looked_up && most != Source::none) {
        source = most;
        outcome = outcome_of(most);
    }
    if (looked_up && cut) outcome = Outcome::error;
}

void ClientContext::tell_of_client() {
    if (std::exchange(transaction.told_of_client, true)) return;
    ForwardedHop hop;
    hop.mode = site.of_entry() ? config().forwarded.origins : config().forwarded.forward;
    hop.states_scheme = states_scheme;
    hop.states_host = states_host;
    if (!transaction.from_peer) {
        hop.trusted = requester.through_trusted_proxy();
        const auto may_be_stored = head.verb == boost::beast::http::verb::get ||
                                   head.verb == boost::beast::http::verb::head;
        if (site.of_entry() && may_be_stored) drop_overrides();
        hop.sender = requester.hop_text();
        hop.client = requester.text();
    }
    hop.scheme = key.scheme();
    hop.host = key.authority();
    forwarded.rewrite(head.fields, hop);
}

/// An origin may take these fields for another target than the key's. A trusted proxy is no proof
/// of them, as proxies pass fields on that they do not know.
void ClientContext::drop_overrides() {
    const auto& names = config().forwarded.drop;
    std::erase_if(head.fields, [&](const Field& line) {
        return std::ranges::any_of(
            names, [&](const std::string& name) { return iequals(line.name, name); });
    });
}

Framing ClientContext::framing(unsigned status, std::optional<std::uint64_t> length) const {
    if (status < 200 || status == 204 || status == 304) return Framing::none;
    if (length) return Framing::length;
    return head.version >= 11 ? Framing::chunked : Framing::close;
}

void ClientContext::compose(const std::string& stored_head, const LiveFields* live,
                            std::optional<std::chrono::seconds> age, const CacheStatus& status,
                            Framing framing, std::uint64_t length) {
    buffers.clear();
    out.clear();
    if (live) out.append(live->lines);
    if (age) {
        out.append("Age: "sv);
        append_number(out, static_cast<std::uint64_t>(std::max<std::int64_t>(age->count(), 0)));
        out.append("\r\n"sv);
    }
    out.append("Cache-Status: "sv);
    if (live && !live->cache_status.empty()) out.append(live->cache_status).append(", "sv);
    const auto ours = out.size();
    append_cache_status(out, config().node, status);
    if (frontend.shared.access_log.enabled()) transaction.cache_status.assign(out, ours);
    out.append("\r\n"sv);
    if (framing == Framing::length) {
        out.append("Content-Length: "sv);
        append_number(out, length);
        out.append("\r\n"sv);
    } else if (framing == Framing::chunked) {
        out.append("Transfer-Encoding: chunked\r\n"sv);
    }
    if (framing == Framing::close || !keep_alive())
        out.append("Connection: close\r\n"sv);
    else if (head.version < 11)
        out.append("Connection: keep-alive\r\n"sv);
    out.append("\r\n"sv);
    buffers.emplace_back(stored_head.data(), stored_head.size());
    buffers.emplace_back(out.data(), out.size());
    booked_ = connection.answer_bytes() + stored_head.size() + out.size();
}

std::uint64_t ClientContext::book(std::uint64_t before, std::uint64_t body) {
    const auto sent = connection.answer_bytes();
    if (sent <= booked_) return 0;
    const auto went = sent - booked_;
    booked_ = sent;
    const auto bytes = std::min(went - std::min(went, before), body);
    transaction.body_bytes += bytes;
    return bytes;
}

void ClientContext::note_type(const StoredResponse& response) {
    if (!frontend.shared.access_log.enabled()) return;
    const auto fields = response.fields();
    transaction.content_type = value_or_empty(fields, field::content_type);
}

boost::asio::awaitable<bool> ClientContext::answer(unsigned status, std::string_view lines,
                                                   std::string_view body, CacheStatus cache) {
    transaction.status = status;
    own_head.clear();
    append_status_line(own_head, status);
    own_head.append(lines).append("Date: ");
    append_http_date(own_head, wall_now());
    own_head.append("\r\nVia: 1.1 ").append(config().node).append("\r\n");
    compose(own_head, nullptr, std::nullopt, cache, Framing::length, body.size());
    if (head.verb != boost::beast::http::verb::head) buffers.emplace_back(body.data(), body.size());
    const auto sent = co_await connection.send(buffers);
    book();
    transaction.aborted = !sent;
    co_return (sent && keep_alive());
}

boost::asio::awaitable<bool> ClientContext::refuse(unsigned status, std::string_view text,
                                                   CacheStatus cache, std::string_view lines) {
    const auto body = std::string(text) + "\n";
    auto all_lines = std::string("Content-Type: text/plain; charset=utf-8\r\n");
    all_lines.append(lines);
    co_return co_await answer(status, all_lines, body, cache);
}

boost::asio::awaitable<bool> ClientContext::refuse_without_site(NoSite reason) {
    ++frontend.counters.refusals[RequestRefusal::no_route];
    const auto text = explain(reason, key.host());
    co_return co_await refuse(status_of(reason), text);
}

void ClientContext::note_refused(FetchError error) {
    if (error == FetchError::not_allowed || error == FetchError::own_listener)
        ++frontend.counters.refusals[RequestRefusal::destination];
}

boost::asio::awaitable<ClientContext::News> ClientContext::wait_for_news(
    std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        const auto look = std::chrono::steady_clock::now() + Departure::kLook;
        const auto woken = co_await wakeup->wait_until(std::min(look, deadline));
        if (woken) co_return News::come;
        transaction.aborted = connection.has_left();
        if (transaction.aborted) co_return News::client_left;
        if (deadline <= look) co_return News::late;
    }
}

const std::shared_ptr<PeersAsked>& ClientContext::peers_asked() {
    auto& asked = transaction.peers_asked;
    if (!asked && config().cluster && frontend.shared.access_log.enabled())
        asked = std::make_shared<PeersAsked>();
    return asked;
}

void ClientContext::rest() {
    auto& last = transaction;
    const auto kept = connection.kept_bytes() + key.kept_bytes() + forwarded.kept_bytes() +
                      kept_bytes(head.fields) + kept_bytes(buffers) + kept_bytes(out) +
                      kept_bytes(own_head) + kept_bytes(last.peer) + kept_bytes(last.server) +
                      kept_bytes(last.content_type) + kept_bytes(last.cache_status);
    last.peers_asked.reset();
    if (kept <= kIdleBytes) return;
    parser.reset();
    head.method = head.target = head.reason = {};
    give_back(head.fields);
    forwarded.give_back();
    connection.give_back();
    key.give_back();
    give_back(buffers);
    for (auto* text :
         {&out, &own_head, &last.peer, &last.server, &last.content_type, &last.cache_status})
        give_back(*text);
}

void ClientContext::finish_transaction() {
    const auto duration = std::chrono::steady_clock::now() - transaction.begun;
    auto& counters = frontend.counters;
    transaction.settle();
    if (transaction.aborted && connection.answer_bytes() == 0) transaction.outcome = Outcome::error;
    const auto is_probe = key.uri() == kProbeTarget;
    if (is_probe && transaction.from_peer) return;
    if (is_probe && transaction.outcome == Outcome::error) {
        // A peer's probe may come before this worker knows the token in it, so it does not count.
        // The access log has a line for it, as anybody can send such a request.
    } else if (transaction.from_peer) {
        counters.bytes_to_peers += transaction.body_bytes;
    } else {
        ++counters.requests[transaction.outcome];
        counters.durations[static_cast<std::size_t>(transaction.outcome)].observe(duration);
        counters.bytes_to_clients += transaction.body_bytes;
    }
    auto& log = frontend.shared.access_log;
    if (!log.enabled()) return;
    AccessRecord record;
    record.ts = std::chrono::system_clock::now() -
                std::chrono::duration_cast<std::chrono::system_clock::duration>(duration);
    record.duration = duration;
    record.client = requester.text();
    record.method = head.method;
    record.url = key.uri().empty() ? head.target : key.uri();
    record.version = static_cast<unsigned>(head.version);
    record.status = transaction.status;
    record.bytes = transaction.body_bytes;
    record.outcome = transaction.outcome;
    record.cache = transaction.cache;
    record.source = transaction.source;
    record.peer = transaction.peer;
    if (const auto* asked = transaction.peers_asked.get(); asked && !asked->all().empty()) {
        const auto* told = asked->last_to(transaction.peer);
        if (!told) told = &asked->all().back();
        record.peer = told->node;
        record.peer_verdict = told->verdict;
        record.peers_asked = asked;
    }
    record.sent = connection.answer_bytes() + (transaction.tunnelled ? record.bytes : 0);
    record.origin = transaction.server;
    record.role = transaction.from_peer ? Role::peer : Role::client;
    record.content_type = transaction.content_type;
    record.referer = value_or_empty(head.fields, field::referer);
    record.user_agent = value_or_empty(head.fields, field::user_agent);
    record.validated = transaction.validated;
    record.client_reload = transaction.client_reload;
    record.cache_status = transaction.cache_status;
    record.aborted = transaction.aborted;
    log.write(record);
}

}  // namespace proxy
