#pragma once

#include <cstdint>

#include "measure/simulate/simulation_config.hpp"
#include "proxy/config/config.hpp"

namespace measure {

/// The ways in which a simulated disk frees space.
enum class DiskOrder : std::uint8_t {
    segments,  // the node's: the oldest segment goes, and its used records are written again
    fifo,      // the same without writing again
    lru,       // ideal: evicts single objects at no cost
    gdsf,      // ideal: the same in GDSF order
};

/// One proxy with a disk behind its memory.
struct TiersConfig : SimulatedLoad {
    std::uint64_t memory_bytes = 0;                  // above 0
    std::uint64_t disk_bytes = 0;                    // 0: no disk
    Replacement replacement = Replacement::s3_fifo;  // in memory; orders that look at other proxies
                                                     // are refused
    DiskOrder disk = DiskOrder::segments;
    proxy::DiskAdmission admission = proxy::DiskAdmission::second_request;

    bool operator==(const TiersConfig&) const = default;
};

/// The counts after the warm-up. Bytes are those of bodies, except for written bytes.
struct TierCounts {
    std::uint64_t requests = 0, bytes = 0;
    std::uint64_t memory_hits = 0, memory_hit_bytes = 0;
    std::uint64_t disk_hits = 0, disk_hit_bytes = 0;
    std::uint64_t admitted = 0, admitted_bytes = 0;  // objects; records as the disk has them
    std::uint64_t written_again_bytes = 0;           // when their segments went

    std::uint64_t hits() const { return memory_hits + disk_hits; }
    std::uint64_t hit_bytes() const { return memory_hit_bytes + disk_hit_bytes; }
    std::uint64_t written_bytes() const { return admitted_bytes + written_again_bytes; }
    bool operator==(const TierCounts&) const = default;
};

}  // namespace measure
