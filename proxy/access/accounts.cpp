#include "proxy/access/accounts.hpp"

#include <functional>

namespace proxy {
namespace {

/// Accounts that one new one looks at.
constexpr int kLooks = 32;

}  // namespace

std::shared_ptr<Account> Accounts::open(const std::string& key, Time now) {
    auto& shard = shards_[std::hash<std::string>()(key) % kShards];
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.entries.find(key);
    if (found != shard.entries.end()) return found->second;
    if (shard.entries.size() >= per_shard_) make_room(shard, now);
    return shard.entries.emplace(key, std::make_shared<Account>()).first->second;
}

void Accounts::make_room(Shard& shard, Time now) const {
    auto& entries = shard.entries;
    auto at = entries.lower_bound(shard.next_look);
    auto emptiest = entries.end();
    for (int i = 0; i < kLooks && !entries.empty(); ++i) {
        if (at == entries.end()) at = entries.begin();
        // The mutex is held, so nobody else can begin to use it.
        const auto in_use = at->second.use_count() > 1;
        if (!in_use && at->second->empty_at() <= now) {
            if (emptiest == at) emptiest = entries.end();
            at = entries.erase(at);
            continue;
        }
        if (!in_use &&
            (emptiest == entries.end() || at->second->empty_at() < emptiest->second->empty_at()))
            emptiest = at;
        ++at;
    }
    if (entries.size() >= per_shard_ && emptiest != entries.end()) {
        if (at == emptiest) ++at;
        entries.erase(emptiest);
    }
    shard.next_look = at == entries.end() ? std::string() : at->first;
}

std::size_t Accounts::size() const {
    std::size_t sum = 0;
    for (const auto& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        sum += shard.entries.size();
    }
    return sum;
}

}  // namespace proxy
