#pragma once

#include <cstdint>

#include "base/counters/counter_table.hpp"

namespace proxy {

/// The store's numbers about the disk as a whole; all 0 in a store that has only memory. DiskStatus
/// has those of one directory.
struct StoreDiskStatus {
    std::uint64_t disk_objects = 0;             // in the index
    std::uint64_t disk_index_bytes = 0;         // of memory, beside cache.memory
    std::uint64_t disk_hits = 0;                // responses that memory lacked
    std::uint64_t disk_admission_declined = 0;  // responses that were requested too seldom
};

/// counter_table.hpp says how to add a number.
inline constexpr base::CounterRow<StoreDiskStatus> kStoreDiskNumbers[] = {
    {.member = &StoreDiskStatus::disk_objects,
     .path = "cache.disk_objects",
     .unit = "responses",
     .help = "Stored responses that are on disk, in memory too or not.",
     .family = "hearsay_cache_disk_objects",
     .kind = base::NumberKind::level},
    {.member = &StoreDiskStatus::disk_index_bytes,
     .path = "cache.disk_index_bytes",
     .unit = "bytes",
     .help = "Memory that the index of the disk takes, beside cache.memory.",
     .family = "hearsay_disk_index_bytes",
     .kind = base::NumberKind::level},
    {&StoreDiskStatus::disk_hits, "cache.disk_hits", "responses",
     "Responses that were read from disk, as clients and peers asked for what memory did not have.",
     "hearsay_disk_hits_total"},
    {&StoreDiskStatus::disk_admission_declined, "cache.disk_admission_declined", "responses",
     "Responses that were not written to disk, as they were asked for only once "
     "(cache.disk_admission).",
     "hearsay_disk_admission_declined_total"},
};
static_assert(base::every_member_has_a_row(kStoreDiskNumbers));

}  // namespace proxy
