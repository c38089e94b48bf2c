#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "proxy/http/tags.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The keys of one shard by the tags that their responses carry, for purges by tag. The lock of the
/// shard guards it.
class TagIndex {
public:
    /// Puts `tags`, in any order, in the place of `indexed`, the tags under which the key stood so
    /// far. Afterwards `indexed` has the new tags, sorted and each once.
    void set(summary::KeyHash key, std::vector<summary::KeyHash>& indexed,
             std::vector<summary::KeyHash> tags) {
        std::sort(tags.begin(), tags.end(), precedes);
        tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
        if (tags == indexed) return;
        for (const auto& tag : indexed) keys_.erase({tag, key});
        for (const auto& tag : tags) keys_.insert({tag, key});
        indexed = std::move(tags);
    }
    /// One key with this tag, if there is any.
    std::optional<summary::KeyHash> first(summary::KeyHash tag) const {
        const auto next = keys_.lower_bound({tag, {}});
        if (next == keys_.end() || next->tag != tag) return std::nullopt;
        return next->key;
    }
    void clear() { keys_.clear(); }

private:
    struct TaggedKey {
        summary::KeyHash tag, key;
    };
    struct Order {
        bool operator()(const TaggedKey& a, const TaggedKey& b) const {
            return a.tag != b.tag ? precedes(a.tag, b.tag) : precedes(a.key, b.key);
        }
    };
    std::set<TaggedKey, Order> keys_;
};

}  // namespace proxy
