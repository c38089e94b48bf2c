#include "proxy/request/client_service.hpp"

#include <sys/resource.h>

#include <limits>

namespace proxy {

std::uint64_t descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::uint64_t>::max();
    return limit.rlim_cur;
}

ClientService::ClientService(SharedClientState& all, Cache& behind, const ConfigInEffect& in_effect)
    : shared(all),
      cache(behind),
      upstream(behind.upstream),
      settings(in_effect),
      wheel(upstream.wheel),
      counters(upstream.counters),
      executor(upstream.executor) {}

void ClientService::retire() {
    retiring_ = true;
    for (auto* connection : connections_) connection->retire();
}

void ClientService::drain() {
    begin_drain();
    for (auto* connection : connections_) connection->drain();
}

void ClientService::add(Connection& connection) {
    connection.index_ = connections_.size();
    connections_.push_back(&connection);
    shared.high_water_mark.raise_to(shared.connections.fetch_add(1, std::memory_order_relaxed) + 1);
}

void ClientService::remove(Connection& connection) {
    connections_[connection.index_] = connections_.back();
    connections_[connection.index_]->index_ = connection.index_;
    connections_.pop_back();
    shared.connections.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace proxy
