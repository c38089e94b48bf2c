#include "proxy/storage/soft_purge.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <utility>

#include "proxy/http/tags.hpp"
#include "proxy/storage/blocks.hpp"

#include "summary/sizing/prefix_tag.hpp"

namespace proxy {

SoftPurge::SoftPurge(StoreShards& shards, const protocol::Invalidation& what,
                     const summary::KeyHasher& hasher) {
    using Hashes = boost::unordered_flat_set<summary::KeyHash, summary::HashOfKeyHash>;
    const Hashes keys(what.keys.begin(), what.keys.end());
    const Hashes tags(what.tags.begin(), what.tags.end());
    const auto has_prefixes = std::ranges::any_of(what.tags, summary::is_prefix_tag);
    const auto is_named = [&](const summary::KeyHash& tag) { return tags.contains(tag); };
    const auto is_meant = [&](const MemoryShelf::Entry& entry) {
        return keys.contains(entry.hash) || std::ranges::any_of(entry.tags, is_named) ||
               (has_prefixes && std::ranges::any_of(prefix_tags_of(entry.uri, hasher), is_named));
    };
    const auto stays_out = [](const StoredResponse& response) {
        return response.blocks || response.body->on_disk() || !response.freshness.has_validator;
    };
    const auto take = [&](const MemoryShelf::Entry& entry) {
        if (target_of_block(entry.uri)) return;
        PurgedEntry one{entry.hash, entry.uri, entry.announced, {}};
        for (const auto& variant : entry.variants)
            if (!stays_out(*variant.response)) one.variants.push_back(variant.response);
        if (!one.variants.empty()) taken_.push_back(std::move(one));
    };
    if (tags.empty()) {
        for (const auto& key : keys) {
            auto& in = shards.of(key);
            const std::lock_guard lock(in.mutex);
            if (const auto* const entry = in.memory.find(key)) take(*entry);
        }
        return;
    }
    for (auto& in : shards) {
        const std::lock_guard lock(in.mutex);
        in.memory.for_each([&](const MemoryShelf::Entry& entry) {
            if (is_meant(entry)) take(entry);
        });
    }
}

void SoftPurge::put_back(StoreShards& shards, MemoryTier& memory, FillLeases& leases,
                         AnnouncementLedger& ledger, const InvalidationMemory& invalidated,
                         Clock::time_point now) {
    for (auto& one : taken_) {
        {
            auto& in = shards.of(one.key);
            const std::lock_guard lock(in.mutex);
            if (in.memory.find(one.key)) continue;  // somebody has fetched it again
        }
        for (auto& variant : one.variants) {
            auto stale = made_stale(*std::exchange(variant, nullptr), now);
            auto charge = memory.reserve(MemoryTier::charge_for(one.uri, *stale), now);
            if (!charge) continue;
            stale->charge = std::move(*charge);
            leases.publish(one.key, one.uri, nullptr, invalidated.invalidations(), std::move(stale),
                           SelectingFields(), now);
        }
        if (!one.announced) continue;
        auto& in = shards.of(one.key);
        const std::lock_guard lock(in.mutex);
        if (auto* const entry = in.memory.find(one.key)) ledger.announce(one.key, entry->announced);
    }
    taken_.clear();
}

std::shared_ptr<StoredResponse> made_stale(const StoredResponse& stored, Arrival::Steady now) {
    StoredMetadata metadata = stored;
    end_lifetime(metadata.freshness, stored.residence(now));
    return std::make_shared<StoredResponse>(std::move(metadata), stored.body);
}

}  // namespace proxy
