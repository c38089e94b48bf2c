#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "base/memory/recent_map.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The node that fetches a key from the origin: for the keys whose meeting point is this node
/// (meeting_plan.hpp), and for bodies in blocks of which this node has got the index. An entry is a
/// hint and never a lock: whoever cannot follow it fetches itself. It takes 64 bytes and a name.
/// Any thread.
class KnownFetchers {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::size_t kMost = 4096;
    /// An older entry counts as absent. A fetch that lasts longer is mostly one in blocks, and each
    /// of its blocks makes the entry new.
    static constexpr std::chrono::seconds kKept{60};

    /// The node that fetches `key`. Empty: none is known but `asker`, which is noted from now on.
    /// `failed`: a node that `asker` could not follow; empty: none.
    std::string meet(summary::KeyHash key, std::string_view asker, std::string_view failed,
                     Time now) {
        const std::lock_guard lock(access_);
        auto& known = by_key_.use(key);
        if (by_key_.size() > kMost) by_key_.drop_oldest();
        const auto is_other = !known.node.empty() && known.node != asker && known.node != failed;
        if (is_other && now - known.since < kKept) return known.node;
        known.node = asker;
        known.since = now;
        return {};
    }

    /// Notes that `node` fetches `key`, as that node itself or another one has told.
    void note(summary::KeyHash key, std::string_view node, Time now) {
        const std::lock_guard lock(access_);
        auto& known = by_key_.use(key);
        if (by_key_.size() > kMost) by_key_.drop_oldest();
        known.node = node;
        known.since = now;
    }

    /// The node that fetches `key`, or did lately; empty: none is known.
    std::string of(summary::KeyHash key, Time now) {
        const std::lock_guard lock(access_);
        const auto* known = by_key_.find(key);
        return known && now - known->since < kKept ? known->node : std::string();
    }

private:
    struct Fetcher {
        std::string node;
        Time since{};
    };
    std::mutex access_;
    base::RecentMap<summary::KeyHash, Fetcher, summary::HashOfKeyHash> by_key_;
};

}  // namespace proxy
