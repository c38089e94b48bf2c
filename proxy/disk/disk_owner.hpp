#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "proxy/disk/recovery.hpp"

namespace proxy {

/// Where nothing can be read any more, and nobody can tell what was there: a whole directory, or
/// one segment of it.
struct LostPlaces {
    unsigned directory = 0;
    std::optional<std::uint32_t> segment;  // number_of() its places

    bool has(DiskPlace place) const {
        return directory_of(place) == directory && (!segment || number_of(place) == *segment);
    }
};

/// Who keeps the index of a DiskTier. Called on threads of the tier, which hold no lock then; none
/// of it may wait. Entries may be looked at until the call returns.
class DiskOwner {
public:
    virtual summary::KeyHash hash_of(std::string_view uri) const = 0;
    /// In batches while a directory is being read, the newest first.
    virtual void recovered(std::span<const RecoveredKey> batch) = 0;
    /// How often the record at `place` was used; none when the index has it no more.
    virtual std::optional<unsigned> uses(const FooterEntry& entry, DiskPlace place) = 0;
    /// It stands at `to` now.
    virtual void moved(const FooterEntry& entry, DiskPlace from, DiskPlace to) = 0;
    /// It is no more.
    virtual void dropped(const FooterEntry& entry, DiskPlace place) = 0;
    /// What the index still has there is no more.
    virtual void lost(const LostPlaces& places) = 0;

protected:
    ~DiskOwner() = default;
};

}  // namespace proxy
