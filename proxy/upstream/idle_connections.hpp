#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "proxy/upstream/upstream_connection.hpp"

namespace proxy {

/// The idle connections of a pool, by their time and by UpstreamConnection::key. One thread.
class IdleConnections {
public:
    using Place = std::list<UpstreamPtr>::iterator;
    using Places = std::vector<Place>;  // the longest idle one in front
    using ByKey = std::unordered_map<std::string, Places>;

    /// The last one to become idle.
    void add(UpstreamPtr connection);
    UpstreamPtr remove(Place connection);
    void clear();

    std::size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    /// From the longest idle one to the last.
    Place begin() { return all_.begin(); }
    Place end() { return all_.end(); }
    const UpstreamPtr& oldest() const { return all_.front(); }
    /// Those of one key, at least one; null: there is none. Valid until the last one is removed.
    const Places* at(const std::string& key) const;
    const ByKey& by_key() const { return by_key_; }

private:
    std::list<UpstreamPtr> all_;
    ByKey by_key_;
    /// Nodes of both that the last requests have emptied, for the connections that come back next.
    std::list<UpstreamPtr> spare_;
    ByKey::node_type spare_node_;
};

}  // namespace proxy
