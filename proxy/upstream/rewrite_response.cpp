#include "proxy/upstream/rewrite_response.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "proxy/http/field_list.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/rewrite/body_rewriter.hpp"
#include "proxy/rewrite/head_rewrite.hpp"

namespace proxy {
namespace {

void note_leaving(Upstream& upstream, const RequestSnapshot& asks, const Head& rewritten) {
    if (!asks.policy().mirror->location) return;
    if (const auto host = leaves_mirrors_for(asks.config(), asks.key, rewritten))
        upstream.leaving_redirects.note(asks.kept.site.entry->name(), *host,
                                        std::chrono::steady_clock::now());
}

}  // namespace

FetchError rewrite_response(Upstream& upstream, const RequestSnapshot& asks, const RewriteOf& of,
                            Exchange& exchange) {
    const auto* const mirror = asks.policy().mirror;
    if (!mirror) return FetchError::none;
    const auto& all = asks.config().mirrors;
    auto head = std::make_shared<HeadRewrite>();
    const RewriteRequest request{*all, *mirror, asks.key, of.url, of.is_head, of.sent_tags};
    rewrite_head(request, exchange.head(), *head);
    const auto body = head->body;
    if (head->changed) {
        ++upstream.counters.responses_rewritten;
        exchange.take_head(std::move(head));
    }
    note_leaving(upstream, asks, exchange.head());
    if (!body || of.is_head || exchange.done()) return FetchError::none;
    auto& windows = upstream.pool.windows();
    const auto bytes = body->gzip ? kGzipRewriterBytes : kRewriterBytes;
    if (!windows.take(bytes)) return FetchError::busy;
    base::Charge charge(windows, bytes);
    LinkReplacer links(all, *mirror, body->syntax, of.url.scheme(),
                       std::string(of.url.authority()));
    auto rewriter = std::make_unique<BodyRewriter>(std::move(links), body->gzip, mirror->up_to);
    exchange.rewrite_body(std::move(rewriter), std::move(charge));
    return FetchError::none;
}

std::optional<std::string> leaves_mirrors_for(const LoadedConfig& config, const CacheKey& own,
                                              const Head& rewritten) {
    const auto* const location = is_redirect(rewritten.status)
                                     ? find(rewritten.fields, boost::beast::http::field::location)
                                     : nullptr;
    CacheKey target;
    if (!location || !resolve_reference(own, location->value, target)) return std::nullopt;
    const auto site = choose_site(config, target, true);
    const auto answers = site.policy.mirror ||
                         (site.entry && !site.entry->mirror && site.entry->host != "*") ||
                         is_same_origin(own, target);
    return answers ? std::nullopt : std::optional<std::string>(target.authority());
}

InterimResponse interim_of_origin(const LoadedConfig& config, const Mirror* mirror,
                                  const CacheKey& own, const Head& received) {
    if (!mirror) return interim_response(received, config.node);
    CacheKey url;
    url.assign_url(mirror->url_at_origin(own.path()));
    HeadRewrite rewritten;
    rewrite_head({*config.mirrors, *mirror, own, url}, received, rewritten);
    Head head;
    head.status = received.status;
    head.fields = std::move(rewritten.fields);
    return interim_response(head, config.node);
}

}  // namespace proxy
