#include "proxy/request/connections_by_address.hpp"

#include <functional>
#include <string_view>

namespace proxy {
ConnectionsByAddress::Ticket::~Ticket() {
    if (!shard_) return;
    const std::lock_guard lock(shard_->mutex);
    if (at_->second.open.fetch_sub(1, std::memory_order_relaxed) == 1) shard_->entries.erase(at_);
}

ConnectionsByAddress::Ticket ConnectionsByAddress::take(const boost::asio::ip::address& address) {
    const auto network = client_network(address);
    const std::string_view key(reinterpret_cast<const char*>(network.data()), network.size());
    auto& shard = shards_[std::hash<std::string_view>()(key) % kShards];
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.try_emplace(network).first;
    at->second.open.fetch_add(1, std::memory_order_relaxed);
    return Ticket(shard, at);
}

}  // namespace proxy
