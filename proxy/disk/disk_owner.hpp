#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/disk/recovery.hpp"

namespace proxy {

/// A directory, or one segment of it, whose records are lost.
struct LostRecords {
    unsigned directory = 0;
    std::optional<std::uint32_t> segment;  // number_of() its places

    bool has(RecordLocation place) const {
        return directory_of(place) == directory && (!segment || number_of(place) == *segment);
    }
};

/// The keeper of a tier's index. Threads of the tier call it while they are free of locks, and each
/// call must return at once. Entries are valid until the call returns.
class DiskOwner {
public:
    virtual summary::KeyHash hash_of(std::string_view uri) const = 0;
    /// A tombstone of this hash ends all keys with one prefix. Then prefix_tags_of() a key names
    /// those of its prefixes, which its record does not have among its tags.
    virtual bool is_prefix_tag(summary::KeyHash hash) const = 0;
    virtual std::vector<summary::KeyHash> prefix_tags_of(std::string_view uri) const = 0;
    /// Records that recovery found, in batches, the newest first.
    virtual void recovered(std::span<const RecoveredKey> batch) = 0;
    /// The use count of the record at `place`; none if the index lacks it.
    virtual std::optional<unsigned> uses(const FooterEntry& entry, RecordLocation place) = 0;
    /// The record was written again, at `to`.
    virtual void moved(const FooterEntry& entry, RecordLocation from, RecordLocation to) = 0;
    /// The record is gone.
    virtual void dropped(const FooterEntry& entry, RecordLocation place) = 0;
    /// All records at these places are gone.
    virtual void lost(const LostRecords& places) = 0;

protected:
    ~DiskOwner() = default;
};

}  // namespace proxy
