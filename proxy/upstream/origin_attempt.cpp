#include "proxy/upstream/origin_attempt.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/redirects.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/upstream/ask_budget.hpp"
#include "proxy/upstream/redirected_request.hpp"
#include "proxy/upstream/rewrite_response.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// The rest of a redirect's body is mostly there with its head. A later one costs the connection.
constexpr std::chrono::milliseconds kRestOfRedirect{20};

}  // namespace

asio::awaitable<FetchError> OriginAttempt::run() {
    if (snapshot->policy().mirror) return run_for_mirror();
    if (snapshot->policy().follows_redirects()) return run_and_follow();
    return send_origin_request(*snapshot, added.text, exchange_, permit);
}

asio::awaitable<FetchError> OriginAttempt::run_for_mirror() {
    auto error = FetchError::none;
    source_url_ = snapshot->url_at_origin();
    if (snapshot->policy().follows_redirects())
        error = co_await run_and_follow();
    else
        error = co_await send_origin_request(*snapshot, added.text, exchange_, permit);
    if (error != FetchError::none) co_return error;
    const auto sent = lines_count_ ? std::string_view(added.text) : std::string_view();
    co_return rewrite_response(upstream, *snapshot, {source_url_, false, sent}, response());
}

/// `url`: another one than that of the request.
bool OriginAttempt::is_source(const CacheKey& url) const {
    return !added.source || source_text(key_by_rules(*snapshot, url)) == *added.source;
}

/// The `min_age` of the rule for a URL at an origin.
std::optional<std::chrono::seconds> OriginAttempt::min_age_of(const CacheKey& url) const {
    const auto* const rule = snapshot->config().rules.find("GET", url.host(), url.path());
    return rule ? rule->min_age : std::nullopt;
}

asio::awaitable<FetchError> OriginAttempt::run_and_follow() {
    lines_count_ = !names_another_url();
    std::string_view sent = lines_count_ ? added.text : std::string_view();
    const auto answered = co_await send_origin_request(*snapshot, sent, exchange_, permit);
    if (answered != FetchError::none) co_return answered;
    const auto redirects = std::make_shared<Redirects>(snapshot->policy().rules());
    const auto keeps_cookie = !snapshot->policy().rule->storing.ignored.set_cookie;
    const auto first = snapshot->url_at_origin();
    std::vector<std::string> visited{std::string(first.origin()).append(first.path())};
    auto at = first;
    auto why_left = StorageVerdict::redirect_loop;
    while (!lost && redirects->count() < kMaxRedirects) {
        const auto& head = response().head();
        const auto target = redirect_target(head, at, keeps_cookie);
        if (!target) why_left = why_without_target(head, keeps_cookie);
        if (!target || std::ranges::find(visited, target->uri()) != visited.end()) break;
        const auto next =
            redirected_request(*snapshot, *target, upstream.settings.files().blocklists.get());
        if (!next) why_left = StorageVerdict::redirect_host;
        if (!next) break;
        lines_count_ = is_source(*target);
        if (!lines_count_ && added.wants_part) co_return FetchError::changed;
        auto hop = std::make_unique<Exchange>(upstream.pool, upstream.head_limits());
        const auto& on_interim = exchange_.terms().on_interim;
        if (on_interim && is_same_origin(*target, first)) hop->terms().on_interim = on_interim;
        OriginPermit asked(upstream, *next->origin(),
                           {has_stand_in, true, lines_count_ ? added.server : std::nullopt});
        auto before = std::exchange(followed_, std::move(hop));
        sent = lines_count_ ? std::string_view(added.text) : std::string_view();
        const auto error = co_await send_origin_request(*next, sent, *followed_, asked);
        if (error != FetchError::none) {
            if (has_stand_in || added.wants_part || lost) co_return error;
            followed_ = std::move(before);
            lines_count_ = false;
            why_left = StorageVerdict::redirect_failed;
            break;
        }
        auto& redirect = before ? *before : exchange_;
        redirects->add(redirect.received(), min_age_of(*target));
        co_await redirect.discard(Clock::now() + kRestOfRedirect);
        visited.emplace_back(target->uri());
        at = *target;
    }
    if (!lines_count_ && added.wants_part) co_return FetchError::changed;
    const auto is_left = is_redirect(response().head().status);
    if (is_left)
        redirects->end_unfollowed(response().received(), at, why_left);
    else if (redirects->count() > 0)
        redirects->end_at(response().received(), key_by_rules(*snapshot, at),
                          !is_same_origin(at, first));
    source_url_ = at;
    if (is_left || redirects->count() > 0) response().came_by(redirects);
    co_return FetchError::none;
}

void OriginAttempt::take() {
    taken_ = true;
}

void OriginAttempt::lose() {
    if (lost || taken_ || !under_way) return;
    lost = true;
    ++upstream.counters.origin_hedges_outrun;
    if (!result) upstream.wheel.arm(*this, Clock::now() + kLatestHead);
}

}  // namespace proxy
