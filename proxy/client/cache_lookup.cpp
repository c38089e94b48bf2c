#include "proxy/client/cache_lookup.hpp"

#include <string>

#include "proxy/cache/response_plan.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

Store::Found CacheLookup::find(summary::KeyHash hash, std::string_view uri, const Selecting& by,
                               Clock::time_point now) const {
    const auto& cache = transaction_.frontend.cache;
    auto found = cache.look_up(hash, uri, by, now);
    if (!found.response || may_give(transaction_.request.site.policy, *found.response))
        return found;
    cache.shared.drop(hash, now);
    return cache.look_up(hash, uri, by, now);
}

asio::awaitable<Store::Found> CacheLookup::recall(Store::Found found, summary::KeyHash hash,
                                                  std::string_view uri, Selecting by) {
    auto& store = transaction_.frontend.cache.shared.store;
    const auto deadline = Clock::now() + kRecallAtMost;
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
    co_return found;
}

bool is_variant(const StoredResponse& response, const Selecting& by) {
    std::string scratch;
    return response.vary_names.empty() ||
           variant_matches(response.vary_names, response.variant, by, scratch);
}

}  // namespace proxy
