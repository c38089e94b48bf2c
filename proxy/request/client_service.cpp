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

void ClientService::add(Connection& connection) {
    connections.add(connection);
    shared.high_water_mark.raise_to(shared.connections.fetch_add(1, std::memory_order_relaxed) + 1);
}

void ClientService::remove(Connection& connection) {
    connections.remove(connection);
    shared.connections.fetch_sub(1, std::memory_order_relaxed);
}

void ClientService::ConnectionList::retire() {
    stage_ = std::max(stage_, Stage::retiring);
    for (auto* connection : all_) connection->retire();
}

void ClientService::ConnectionList::drain() {
    begin_drain();
    for (auto* connection : all_) connection->drain();
}

void ClientService::ConnectionList::add(Connection& connection) {
    connection.index_ = all_.size();
    all_.push_back(&connection);
}

void ClientService::ConnectionList::remove(Connection& connection) {
    all_[connection.index_] = all_.back();
    all_[connection.index_]->index_ = connection.index_;
    all_.pop_back();
}

}  // namespace proxy
