#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/disk/disk_owner.hpp"
#include "proxy/disk/tombstones.hpp"

namespace proxy {

/// The purges of one directory: its tombstones, which also cover keys by their prefixes, and the
/// confirmations that wait. Any thread, except hold() and confirm().
class DirectoryPurges {
public:
    explicit DirectoryPurges(const DiskOwner& owner) : owner_(owner) {}

    /// As Tombstones::note().
    bool note(const FooterEntry& tombstone) {
        if (std::ranges::any_of(tombstone.tags,
                                [this](auto hash) { return owner_.is_prefix_tag(hash); }))
            has_prefixes_ = true;
        return tombstones_.note(tombstone);
    }
    void forget(const FooterEntry& tombstone) { tombstones_.forget(tombstone); }

    /// A tombstone covers the record with these properties.
    bool cover(std::uint64_t seq, summary::KeyHash key, std::string_view uri,
               std::span<const summary::KeyHash> tags) const {
        return tombstones_.cover(seq, key, tags) ||
               (has_prefixes_ && tombstones_.cover(seq, key, owner_.prefix_tags_of(uri)));
    }
    /// The same for a Record or a FooterEntry. Hashes the URI only for one before the last
    /// tombstone.
    template <class Written>
    bool cover(const Written& record) const {
        return record.seq < tombstones_.newest() &&
               cover(record.seq, owner_.hash_of(record.uri), record.uri, record.tags);
    }

    // On the thread of the directory.

    /// Keeps the confirmation of a purge whose records could still come back. Drops it while
    /// kMaxTombstones wait.
    void hold(std::function<void()> confirmation) {
        if (unconfirmed_.size() < kMaxTombstones) unconfirmed_.push_back(std::move(confirmation));
    }
    /// The records from before the failure cannot come back any more.
    void confirm() {
        for (const auto& written : std::exchange(unconfirmed_, {})) written();
    }

private:
    const DiskOwner& owner_;
    Tombstones tombstones_;
    std::atomic<bool> has_prefixes_{false};  // a tombstone is, or was, that of a prefix
    std::vector<std::function<void()>> unconfirmed_;
};

}  // namespace proxy
