#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/memory/recent_map.hpp"
#include "protocol/wire/renewal.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The renewals that peers have told of, the last one of each key. An entry takes some 150 bytes,
/// so all of them take 2.4 MB at most. Any thread.
class KnownRenewals {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::size_t kMost = 16384;

    struct Known {
        protocol::Renewal what;
        std::string node;  // that told it
        Time confirmed{};  // by the origin, as far as the Age tells
    };

    void note(const std::string& node, std::span<const protocol::Renewal> renewals, Time now) {
        const std::lock_guard lock(access_);
        for (const auto& one : renewals) {
            by_key_.use(one.key) = {one, node, now - std::chrono::milliseconds(one.age_ms)};
            if (by_key_.size() > kMost) by_key_.drop_oldest();
        }
    }

    /// Nothing: no peer has told of the key, or not of late.
    std::optional<Known> of(summary::KeyHash key) const {
        const std::lock_guard lock(access_);
        const auto* known = by_key_.find(key);
        return known ? std::optional(*known) : std::nullopt;
    }

private:
    mutable std::mutex access_;
    base::RecentMap<summary::KeyHash, Known, summary::HashOfKeyHash> by_key_;
};

}  // namespace proxy
