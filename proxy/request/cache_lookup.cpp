#include "proxy/request/cache_lookup.hpp"

#include <string>

#include "proxy/fetch/renewal.hpp"
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
    OpenSpan span(transaction_.request.trace(), SpanKind::internal, "disk read");
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

bool CacheLookup::renew(const StoredResponse& stored) const {
    auto& request = transaction_.request;
    auto& shared = transaction_.service.cache.shared;
    const auto now = Clock::now();
    if (!request.config().cluster) return false;
    const auto confirmation = confirmation_of(shared, request.hash, request.key.uri(), stored, now);
    if (!confirmation) return false;
    request.rewrite_forwarded();
    const auto snapshot = request.snapshot(true);
    const StoringRequest storing{shared.key_hasher, *snapshot, request.directives,
                                 std::chrono::seconds(shared.cooperation.clock_ahead.load())};
    const auto taken = take_renewal(shared, storing, request.hash, stored, *confirmation, now);
    if (taken) ++transaction_.service.counters.renewals_taken;
    return taken;
}

bool is_variant(const StoredResponse& response, const SelectingFields& by) {
    std::string scratch;
    return response.vary_names.empty() ||
           variant_matches(response.vary_names, response.variant, by, scratch);
}

}  // namespace proxy
