#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "proxy/disk/recovery.hpp"

namespace proxy {

/// Who keeps the index of a DiskTier. Called on threads of the tier, which hold no lock then; none
/// of it may wait. Entries may be looked at until the call returns.
class DiskOwner {
public:
    virtual summary::KeyHash hash_of(std::string_view uri) const = 0;
    /// In batches while a directory is being read, the newest first.
    virtual void recovered(std::span<const RecoveredKey> batch) = 0;
    /// A directory was read to its end, or could not be.
    virtual void loaded(unsigned directory) = 0;
    /// How often the record at `place` was used; none when the index has it no more.
    virtual std::optional<unsigned> uses(const FooterEntry& entry, DiskPlace place) = 0;
    /// It stands at `to` now.
    virtual void moved(const FooterEntry& entry, DiskPlace from, DiskPlace to) = 0;
    /// It is no more.
    virtual void dropped(const FooterEntry& entry, DiskPlace place) = 0;
    /// Nothing in this directory can be read any more.
    virtual void lost(unsigned directory) = 0;

protected:
    ~DiskOwner() = default;
};

}  // namespace proxy
