// The way of a request to a body that another request fetches, where the origin authorizes each
// client (StoringRule::authorize). response_from_cache.cpp has the other ways.
#include <memory>
#include <string>
#include <utility>

#include "proxy/fetch/storing.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/request/body_sender.hpp"
#include "proxy/request/response_from_cache.hpp"
#include "proxy/upstream/origin_attempt.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// The response to the client's own request, with `sent`, says that the body is for this client. An
/// origin without conditions says so by a 200 with the same tag.
bool confirms(const Head& head, const Validators& sent) {
    if (head.status == 304) return applies_to(head.fields, sent);
    return head.status == 200 &&
           only_value(head.fields, boost::beast::http::field::etag) == sent.etag;
}

}  // namespace

/// The head of the other fetch tells the tag of its body. With that the client's own request goes
/// to the origin, and after its consent the body comes from the other fetch.
asio::awaitable<ServeResult> ResponseFromCache::follow_confirmed(std::shared_ptr<Fill> fill) {
    Fill::Reader reader(std::move(fill), transaction_.wakeup, false);
    const auto deadline = std::chrono::steady_clock::now() + kFollowAtMost;
    auto state = reader.state();
    while (state.phase == Fill::Phase::waiting && !state.released) {
        const auto news = co_await transaction_.wait_for_news(deadline);
        if (news == Transaction::News::client_left) co_return ServeResult::responded;
        if (news == Transaction::News::late) co_return ServeResult::alone;
        state = reader.state();
    }
    if (state.released || !state.incoming.response || state.phase == Fill::Phase::failed)
        co_return ServeResult::alone;
    const auto response = state.incoming.response;
    if (response->blocks) co_return ServeResult::look_again;  // the index is stored
    const auto fields = response->fields();
    const Validators sent{validators_of(fields).etag, {}, {}};
    if (!sent.strong() || !response->freshness.each_client ||
        !may_give(request_.site.policy, *response) || !is_variant(*response, request_.head.fields))
        co_return ServeResult::alone;
    const auto snapshot = request_.snapshot(true);
    AddedLines added{.source = std::string(source_of(fields))};
    append_validation(added.text, sent);
    const auto asked =
        std::make_unique<OriginAttempt>(service_.upstream, snapshot, false, std::move(added));
    const auto error = co_await asked->run();
    if (error != FetchError::none) co_return ServeResult::alone;
    auto& exchange = asked->response();
    if (!asked->lines_count() || !confirms(exchange.head(), sent)) co_return ServeResult::alone;
    ++service_.counters.validations;
    const auto status = exchange.head().status;
    const auto server = exchange.server();
    const auto redirects = exchange.redirects();
    // The other client's fields are not for this one: the origin has sent its own.
    const StoringRequest storing{service_.cache.shared.key_hasher, *snapshot, request_.directives};
    const auto own = refreshed(storing, *response, fields, exchange.received());
    if (own.too_large) co_return ServeResult::alone;
    if (status == 304) exchange.finish();  // else its end closes the connection before the body
    state = reader.state();
    if (state.phase == Fill::Phase::failed) co_return ServeResult::look_again;
    state.incoming.response = own.candidate.response;
    const FillResponse from{reader, state, false, own.live.get()};
    note_source(stats_, from);
    stats_.details.note_server(server);
    stats_.details.redirects = redirects;
    if (status != response->status) status_.forward_status = status;
    co_return co_await respond(from);
}

}  // namespace proxy
