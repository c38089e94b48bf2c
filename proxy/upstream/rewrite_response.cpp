#include "proxy/upstream/rewrite_response.hpp"

#include <memory>
#include <string>
#include <utility>

#include "proxy/rewrite/body_rewriter.hpp"
#include "proxy/rewrite/head_rewrite.hpp"

namespace proxy {

FetchError rewrite_response(Upstream& upstream, const RequestSnapshot& asks, const RewriteOf& of,
                            Exchange& exchange) {
    const auto* const mirror = asks.policy().mirror;
    if (!mirror) return FetchError::none;
    const auto& all = asks.config().mirrors;
    auto head = std::make_shared<HeadRewrite>();
    const RewriteRequest request{*all, *mirror, asks.key, of.url, of.is_head, of.sent_tags};
    rewrite_head(request, exchange.head(), *head);
    if (!head->changed) return FetchError::none;
    ++upstream.counters.responses_rewritten;
    const auto body = head->body;
    exchange.take_head(std::move(head));
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
