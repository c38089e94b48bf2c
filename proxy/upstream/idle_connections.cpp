#include "proxy/upstream/idle_connections.hpp"

#include <utility>

namespace proxy {
namespace {

constexpr std::size_t kSpareNodes = 16;

}  // namespace

void IdleConnections::add(UpstreamPtr connection) {
    if (spare_.empty()) spare_.emplace_back();
    const auto at = spare_.begin();
    *at = std::move(connection);
    all_.splice(all_.end(), spare_, at);
    const auto& key = (*at)->key;
    auto known = by_key_.find(key);
    if (known == by_key_.end() && spare_node_.empty()) {
        known = by_key_.try_emplace(key).first;
    } else if (known == by_key_.end()) {
        spare_node_.key() = key;
        known = by_key_.insert(std::move(spare_node_)).position;
    }
    known->second.push_back(at);
}

UpstreamPtr IdleConnections::remove(Place connection) {
    const auto at = by_key_.find((*connection)->key);
    std::erase(at->second, connection);
    if (at->second.empty()) spare_node_ = by_key_.extract(at);
    auto taken = std::move(*connection);
    spare_.splice(spare_.end(), all_, connection);
    if (spare_.size() > kSpareNodes) spare_.pop_front();
    return taken;
}

void IdleConnections::clear() {
    by_key_.clear();
    all_.clear();
}

const IdleConnections::Places* IdleConnections::at(const std::string& key) const {
    const auto known = by_key_.find(key);
    return known == by_key_.end() ? nullptr : &known->second;
}

}  // namespace proxy
