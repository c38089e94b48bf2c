#include "proxy/request/cache_lookup.hpp"

#include <string>

#include "proxy/fetch/response_plan.hpp"
#include "proxy/fetch/store_update.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

Store::Found CacheLookup::find(summary::KeyHash hash, std::string_view uri,
                               const SelectingFields& by, Clock::time_point now) const {
    auto& cache = transaction_.service.cache;
    auto found = cache.shared.store.find(hash, uri, by, now);
    if (!found.response) return found;
    const auto& policy = transaction_.request.site.policy;
    const auto gives = may_give(policy, *found.response);
    if (gives && found.response->rule_mark == policy.mark()) return found;
    if (!gives || !judge_anew(cache, hash, uri, *found.response, policy, now))
        cache.shared.store.invalidate(hash, now);
    return cache.shared.store.find(hash, uri, by, now);
}

asio::awaitable<Store::Found> CacheLookup::recall(Store::Found found, summary::KeyHash hash,
                                                  std::string_view uri, SelectingFields by) {
    auto& store = transaction_.service.cache.shared.store;
    const auto deadline = Clock::now() + kRecallAtMost;
    OpenSpan span(transaction_.request.trace, SpanKind::internal, "disk read");
    for (int rounds = 0; found.on_disk && rounds < kMaxLooks; ++rounds) {
        const auto recalled = store.recall(hash, uri, transaction_.wakeup);
        if (recalled == Store::Recall::refused) break;
        if (recalled == Store::Recall::waiting) {
            const auto news = co_await transaction_.wait_for_news(deadline);
            if (news != Transaction::News::come) break;
        }
        found = find(hash, uri, by, Clock::now());
        recalled_ = found.response != nullptr;
    }
    span.add_flag("hearsay.found", found.response != nullptr);
    co_return found;
}

bool is_variant(const StoredResponse& response, const SelectingFields& by) {
    std::string scratch;
    return response.vary_names.empty() ||
           variant_matches(response.vary_names, response.variant, by, scratch);
}

}  // namespace proxy
