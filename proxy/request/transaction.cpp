#include "proxy/request/transaction.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/short_text.hpp"
#include "proxy/http/connection_login.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/request/disconnect_detector.hpp"
#include "proxy/request/error_response.hpp"
#include "proxy/rewrite/request_rewrite.hpp"

namespace proxy {

namespace asio = boost::asio;
using namespace std::string_view_literals;  // appended without counting
using boost::beast::http::field;
using boost::beast::http::verb;

ResponseHead Transaction::head(unsigned status, FieldBlock stored,
                               std::optional<std::uint64_t> length) const {
    if (status < 200 || status == 204 || status == 304) return {status, stored, {}, false};
    return {status, stored, length, request.head.verb != verb::head};
}

/// Changes writer.fields(), and returns the changed fields of the stored head.
FieldBlock Transaction::edit(const FieldEdits& edits, FieldBlock stored) {
    const auto append_kept = [&edits](std::string& out, FieldBlock fields) {
        for (const auto& line : fields)
            if (!edits.takes_away(line.name)) append_line(out, line);
    };
    auto& own = writer.fields();
    const auto before = std::exchange(own, {});
    append_kept(own, before);
    edits.each_new([&own](const std::string& name, const std::string& value) {
        append_line(own, {field::unknown, name, value});
    });
    std::string kept;  // `stored` may be what an edit before has left
    append_kept(kept, stored);
    edited_fields = std::move(kept);
    return edited_fields;
}

/// Keeps a redirect from leading a client's Authorization to another party at the same host: its
/// Location names the origin of that party. Changes and returns fields as edit() does.
FieldBlock Transaction::keep_credentials(FieldBlock stored) {
    FieldEdits edits;
    const auto look = [&](FieldBlock fields) {
        for (const auto& line : fields) {
            if (line.id != field::location) continue;
            auto url = location_of_other_party(*config().mirrors, *request.site.policy.mirror,
                                               request.key, line.value);
            if (url) edits.set.emplace_back("Location", std::move(*url));
        }
    };
    look(writer.fields());
    look(stored);
    return edits.empty() ? stored : edit(edits, stored);
}

/// Changes the fields of an interim or switching response as the rule of the request says. What a
/// rule adds comes with the final one.
std::string Transaction::edited_interim(const InterimResponse& response) const {
    const auto* rule = request.site.policy.rule;
    if (!rule || rule->response_fields.empty() || request.from_peer) return response.fields;
    std::string out;
    for (const auto& line : FieldBlock(response.fields))
        if (!rule->response_fields.takes_away(line.name)) append_line(out, line);
    if (response.status != 101) return out;
    rule->response_fields.each_new([&out](const std::string& name, const std::string& value) {
        append_line(out, {field::unknown, name, value});
    });
    return out;
}

asio::awaitable<void> Transaction::interim(const InterimResponse& response) {
    const auto fields = edited_interim(response);
    co_await writer.interim(response.status, fields);
}

/// Leaves out the challenges of a 401 that HTTP/2 cannot answer. Changes writer.fields(), and
/// returns the changed fields of the stored head.
FieldBlock Transaction::without_connection_logins(FieldBlock stored) {
    const auto kept_of = [](FieldBlock fields) {
        std::string kept;
        for (const auto& line : fields) {
            if (line.id != field::www_authenticate) {
                append_line(kept, line);
                continue;
            }
            const auto value = challenges_for_requests(line.value);
            if (!value.empty()) append_line(kept, {line.id, line.name, value});
        }
        return kept;
    };
    auto& own = writer.fields();
    own = kept_of(own);
    edited_fields = kept_of(stored);
    return edited_fields;
}

void Transaction::begin(const ResponseHead& stated, const LiveFields* live,
                        std::optional<std::chrono::seconds> age, const CacheStatus& status) {
    auto& out = writer.fields();
    auto head = stated;
    if (live) out.append(live->lines);
    const auto& policy = request.site.policy;
    if (policy.mirror && is_redirect(head.status) && !request.from_peer &&
        request.has_own_credential())
        head.stored = keep_credentials(head.stored);
    const auto* rule = policy.rule;
    if (rule && !rule->response_fields.empty() && !request.from_peer)
        head.stored = edit(rule->response_fields, head.stored);
    if (head.status == 401 && request.head.version >= 20)
        head.stored = without_connection_logins(head.stored);
    {
        base::ShortText text(out);
        if (age)
            text.append("Age: "sv).append(std::max<std::int64_t>(age->count(), 0)).append("\r\n"sv);
        text.append("Cache-Status: "sv);
        if (live && !live->cache_status.empty()) text.append(live->cache_status).append(", "sv);
        const auto ours = text.size();
        append_cache_status(text, config().node, status);
        if (service.shared.access_log.enabled()) {
            text.flush();
            stats.details.cache_status.assign(out, ours);
        }
        text.append("\r\n"sv);
    }
    stats.status = head.status;
    writer.begin(head);
}

asio::awaitable<void> Transaction::send_head() {
    BodyPiece nothing;
    const auto sent = co_await writer.write(nothing);
    stats.aborted = !sent;
}

asio::awaitable<void> Transaction::respond(unsigned status, FieldBlock fields,
                                           std::string_view body, CacheStatus cache) {
    auto& out = writer.fields();
    out.assign(fields.text()).append("Date: "sv);
    append_http_date(out, wall_now());
    out.append("\r\nVia: 1.1 "sv).append(config().node).append("\r\n"sv);
    const auto head = this->head(status, {}, body.size());
    stats.own_body = true;
    begin(head, nullptr, std::nullopt, cache);
    BodyPiece piece;
    piece.end = true;
    auto& buffers = writer.next_piece();
    if (head.has_body && !body.empty()) {
        buffers.emplace_back(body.data(), body.size());
        piece.bytes = body.size();
    }
    const auto sent = co_await writer.write(piece);
    stats.aborted = !sent;
}

asio::awaitable<void> Transaction::refuse(unsigned status, std::string_view text, CacheStatus cache,
                                          FieldBlock fields) {
    const auto body = std::string(text) + "\n";
    auto all = std::string("Content-Type: text/plain; charset=utf-8\r\n");
    all.append(fields.text());
    co_await respond(status, all, body, cache);
}

void Transaction::note_refusal(RequestRefusal reason) {
    ++service.counters.refusals[reason];
    stats.outcome = outcome_of(reason);
}

asio::awaitable<void> Transaction::refuse_head(ParseError error) {
    note_refusal(refusal_of(error));
    std::string text("The request was refused: ");
    text.append(to_string(error)).append(".");
    co_await refuse(status_of(error), text);
}

asio::awaitable<void> Transaction::refuse_fault(bool begun) {
    stats.outcome = Outcome::error;
    if (begun)
        stats.cut_short();
    else
        co_await refuse(500, "An error that is not expected; the node's log says which.");
}

bool Transaction::judges_age() const {
    return may_judge_age(request.site.policy.rule) && !request.from_peer;
}

std::optional<std::string> Transaction::why_too_young(unsigned status, Fields response,
                                                      WallTime arrived) const {
    if (!judges_age()) return std::nullopt;
    const auto now = wall_now();
    const auto& rule = *request.site.policy.rule;
    auto& sights = service.cache.shared.first_sights;
    const auto seen = sights.note({rule, request.key.uri(), status, response}, arrived, now);
    return proxy::why_too_young(rule, status, response, now, seen);
}

std::optional<std::string> Transaction::why_too_young(const StoredMetadata& response) const {
    if (!judges_age()) return std::nullopt;  // before the fields are read
    return why_too_young(response.status, response.fields(), response.arrival.wall);
}

asio::awaitable<void> Transaction::refuse_too_young(std::string_view why) {
    note_refusal(RequestRefusal::too_young);
    stats.source = Source::none;
    co_await refuse(403, why);
}

asio::awaitable<void> Transaction::refuse_without_site(SiteRefusal reason) {
    note_refusal(RequestRefusal::no_route);
    const auto text = explain(reason, request.key.host());
    auto status = kOwnAnswer;
    status.detail = to_string(RequestRefusal::no_route);
    co_await refuse(status_of(reason), text, status);
}

void Transaction::note_stand_in(bool is_stale) {
    const auto* const entry = request.site.entry;
    if (entry) service.upstream.origin_answers.stood_in(entry->name(), is_stale);
}

asio::awaitable<void> Transaction::refuse_fetch(FetchError error, std::string_view authority,
                                                UpstreamRole asked, CacheStatus cache,
                                                ParseError malformed) {
    if (error == FetchError::not_allowed || error == FetchError::own_listener)
        note_refusal(RequestRefusal::destination);
    else
        note_stand_in(false);
    auto text = explain(error, authority, malformed, asked);
    const auto target = error == FetchError::tls_failed ? request.origin() : std::nullopt;
    if (target)
        if (const auto why = service.upstream.pool.tls_trouble(target->host); !why.empty())
            text = explain_tls(authority, why);
    co_await refuse(status_of(error), text, cache);
}

const std::shared_ptr<PeerRequestLog>& Transaction::peers_asked() {
    auto& asked = stats.details.peers_asked;
    if (!asked && config().cluster && service.shared.access_log.enabled())
        asked = std::make_shared<PeerRequestLog>();
    return asked;
}

asio::awaitable<bool> Transaction::wait_for_bandwidth() {
    using Steady = std::chrono::steady_clock;
    const auto* const share = request.share.get();
    if (!share || !share->has_bandwidth()) co_return true;
    auto now = Steady::now();
    // Each waits for what was sent before its wait, so that those who wait have turns.
    const auto ready = share->ready_at(now);
    if (ready > now) ++service.counters.bandwidth_waits;
    while (ready > now) {
        const auto news = co_await wait_for_news(ready);
        if (news == News::client_left) co_return false;
        now = Steady::now();
    }
    co_return true;
}

asio::awaitable<Transaction::News> Transaction::wait_for_news(
    std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        const auto look = std::chrono::steady_clock::now() + DisconnectDetector::kLook;
        const auto woken = co_await wakeup->wait_until(std::min(look, deadline));
        if (woken) co_return News::come;
        stats.aborted = writer.client_has_left();
        if (stats.aborted) co_return News::client_left;
        if (deadline <= look) co_return News::late;
    }
}

}  // namespace proxy
