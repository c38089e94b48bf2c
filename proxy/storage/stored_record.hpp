#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/disk/disk_tier.hpp"
#include "proxy/http/arrival.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// The conversion between stored responses and records of the disk tier. The record's `meta` has
/// the properties that are neither text nor body; see disk/FORMAT.md.

/// The write for a response of `uri`, which keeps both. The caller sets `done`.
DiskTier::Write write_of(std::shared_ptr<const StoredResponse> response, std::string_view uri);

/// The response may go to the disk: it fits into a record, a request can select it, and its body is
/// in memory.
bool may_be_written(const StoredResponse& response);

/// The response of a record. Its body, which is loaded.body, and its charge are added by the
/// caller. `now` has the clocks of this process, as those of earlier processes have another origin.
/// `doubtful`: it may have been purged, so it must be validated before each use. Null if the meta
/// is of another version or contradicts itself.
std::shared_ptr<StoredResponse> response_of(const LoadedRecord& loaded, const ClockReading& now,
                                            bool doubtful);

/// A record with these times is worth an announcement.
bool is_announceable(const FooterEntry& entry, DiskTime now);

}  // namespace proxy
