#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proxy/disk/record.hpp"

namespace proxy {

/// The beginning of a segment, and the table of contents with which it is sealed: restart and
/// reclamation read that instead of all records. See FORMAT.md.

inline constexpr std::uint32_t kDiskFormat = 1;
inline constexpr std::uint64_t kMaxFooterBytes = 64ull << 20;

/// The first sector of a segment.
struct SegmentHeader {
    RecordHome home;
    std::uint64_t bytes = 0;  // of the whole file

    bool operator==(const SegmentHeader& other) const {
        return home.directory == other.home.directory && home.segment == other.home.segment &&
               bytes == other.bytes;
    }
};
DiskBytes encode_segment_header(const SegmentHeader& header);  // kDiskSector bytes
/// Errors: cut_off, no_record, newer_format, bad_checksum.
DiskResult<SegmentHeader> decode_segment_header(DiskView sector);

/// What is told of one record without reading it.
struct FooterEntry {
    std::uint32_t sector = 0;   // where it begins, in kDiskSector
    std::uint32_t sectors = 0;  // what it takes
    std::uint64_t seq = 0;
    DiskTime stored{}, expires{};
    std::uint64_t variant = 0;  // variant_hash()
    RecordType type = RecordType::response;
    std::string uri;
    std::vector<summary::KeyHash> tags;

    bool operator==(const FooterEntry&) const = default;
};
FooterEntry footer_entry(const Record& record, std::uint32_t sector, std::uint32_t sectors);
/// What encode_footer() needs for it.
std::uint64_t footer_bytes(const FooterEntry& entry);
std::uint64_t footer_bytes(const Record& record);

/// Appends the footer, filled up with zeros to whole sectors.
void encode_footer(std::span<const FooterEntry> entries, DiskBytes& out);

/// The last sector of a sealed segment: where its footer is.
struct Trailer {
    std::uint64_t footer_at = 0, footer_bytes = 0;
    std::uint32_t entries = 0;
    std::uint64_t footer_checksum = 0;
};
/// `footer`: as encode_footer() wrote it, to stand at `footer_at`.
DiskBytes encode_trailer(DiskView footer, std::uint64_t footer_at, std::uint32_t entries,
                         const SegmentHeader& header);
/// Gives only what lies inside the segment. Errors: cut_off, no_footer, bad_checksum, bad_length.
DiskResult<Trailer> decode_trailer(DiskView sector, const SegmentHeader& header);
/// Entries ascend, lie before the footer and overlap nowhere. Errors: bad_checksum, bad_length,
/// bad_type.
DiskResult<std::vector<FooterEntry>> decode_footer(DiskView footer, const Trailer& trailer,
                                                   const SegmentHeader& header);

}  // namespace proxy
