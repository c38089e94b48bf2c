#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/disk/disk_tier.hpp"
#include "proxy/http/arrival.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// Stored responses as records of the disk tier, and back. What the disk keeps of a response beside
/// its texts and its body stands in the record's `meta`; see disk/FORMAT.md.

/// What is to be written of a response for `uri`; keeps both. Without `done`.
DiskTier::Write write_of(std::shared_ptr<const StoredResponse> response, std::string_view uri);

/// What may be too large for the disk, or be found by nobody there, or stands there, is not
/// written.
bool may_be_written(const StoredResponse& response);

/// Without its body, whose bytes are loaded.body, and without charge. `now`: this process's
/// present, as the clocks of an earlier one mean nothing. `doubtful`: it may have been purged, so
/// it has to be validated before each use. Null when the meta is not of
/// this version, or makes no sense.
std::shared_ptr<StoredResponse> response_of(const LoadedRecord& loaded, const Present& now,
                                            bool doubtful);

/// Does a record with these times say that what it holds is worth telling of?
bool is_announceable(const FooterEntry& entry, DiskTime now);

}  // namespace proxy
