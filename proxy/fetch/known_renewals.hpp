#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/memory/recent_map.hpp"
#include "protocol/wire/renewal.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The renewals that peers have told of, the newest one of each key. An entry takes some 150 bytes,
/// so all of them take 2.4 MB at most. Times count the sleep of the machine, as those of stored
/// responses do. Any thread.
class KnownRenewals {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::size_t kMost = 16384;
    /// A message that was longer on its way, or whose sender has another time, says whom to ask and
    /// no more: its ages may be wrong by the difference.
    static constexpr std::chrono::milliseconds kTransit{2000};

    struct Known {
        protocol::Renewal what;
        std::string node;  // that told it; empty: a HEAD has shown that copies are outdated
        Time confirmed{};  // by the origin, as far as the Age tells
    };

    /// `wall_ms`: by the wall clock of this node, since 1970.
    void note(const std::string& node, const protocol::Renewals& told, std::uint64_t wall_ms,
              Time now) {
        const std::chrono::milliseconds transit(static_cast<std::int64_t>(wall_ms - told.sent_ms));
        const auto is_exact = transit <= kTransit && transit >= -kTransit;
        const auto sent = now - std::clamp(transit, std::chrono::milliseconds(0), kTransit);
        const std::lock_guard lock(access_);
        for (const auto& one : told.list) {
            Known known{one, node, sent - std::chrono::milliseconds(one.age_ms)};
            if (!is_exact) known.what.version = 0;
            keep(one.key, std::move(known));
        }
    }

    /// A HEAD has shown at `when` that stored responses of this key are outdated.
    void outdated(summary::KeyHash key, Time when) {
        const std::lock_guard lock(access_);
        keep(key, {{key}, {}, when});
    }

    /// A HEAD has shown that what was stored by `then` is outdated, and no peer has told of news
    /// since.
    bool shows_outdated(summary::KeyHash key, Time then) const {
        const std::lock_guard lock(access_);
        const auto* known = by_key_.find(key);
        return known && known->node.empty() && known->confirmed >= then;
    }

    /// Nothing: no peer has told of the key, or not of late.
    std::optional<Known> of(summary::KeyHash key) const {
        const std::lock_guard lock(access_);
        const auto* known = by_key_.find(key);
        return known && !known->node.empty() ? std::optional(*known) : std::nullopt;
    }

private:
    void keep(summary::KeyHash key, Known known) {
        auto& kept = by_key_.use(key);
        if (kept.confirmed < known.confirmed) kept = std::move(known);
        if (by_key_.size() > kMost) by_key_.drop_oldest();
    }

    mutable std::mutex access_;
    base::RecentMap<summary::KeyHash, Known, summary::HashOfKeyHash> by_key_;
};

}  // namespace proxy
