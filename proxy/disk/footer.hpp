#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/disk/pages.hpp"
#include "proxy/disk/record.hpp"

namespace proxy {

/// The header of a segment, and the footer that seals it. The footer is a table of contents, which
/// restart and reclamation read in place of the records. FORMAT.md has the bytes.

inline constexpr std::uint32_t kDiskFormat = 1;
inline constexpr std::uint64_t kMaxSegmentBytes = 256ull << 20;
inline constexpr std::uint64_t kMaxFooterBytes = 64ull << 20;

/// The first sector of a segment.
struct SegmentHeader {
    RecordHome home;
    std::uint64_t bytes = 0;  // of the whole file

    bool operator==(const SegmentHeader&) const = default;
};
DiskBytes encode_segment_header(const SegmentHeader& header);  // kDiskSector bytes
/// Errors: cut_off, no_record, newer_format, bad_checksum, bad_length (of the file).
DiskResult<SegmentHeader> decode_segment_header(DiskView sector);

/// The description of a record in the footer. It views memory of the object that gives it.
struct FooterEntry {
    std::uint32_t sector = 0;   // its start, in kDiskSector
    std::uint32_t sectors = 0;  // its size
    std::uint64_t seq = 0;
    DiskTime stored{}, expires{};
    std::uint64_t variant = 0;  // variant_hash()
    RecordType type = RecordType::response;
    std::string_view uri;
    std::span<const summary::KeyHash> tags;

    bool operator==(const FooterEntry& other) const {
        return sector == other.sector && sectors == other.sectors && seq == other.seq &&
               stored == other.stored && expires == other.expires && variant == other.variant &&
               type == other.type && uri == other.uri && std::ranges::equal(tags, other.tags);
    }
};
/// Views the texts and the tags of `record`.
FooterEntry footer_entry(const Record& record, std::uint32_t sector, std::uint32_t sectors);
/// The size that put_entry() appends.
std::uint64_t footer_bytes(const FooterEntry& entry);
std::uint64_t footer_bytes(const Record& record);

using FooterBytes = Pages<std::byte>;

/// A footer is built entry by entry, and then padded with zeros to whole sectors.
void put_entry(const FooterEntry& entry, FooterBytes& footer);
void close_footer(FooterBytes& footer);

/// The last sector of a sealed segment, which says where the footer is.
struct Trailer {
    std::uint64_t footer_at = 0, footer_bytes = 0;
    std::uint32_t entries = 0;
    std::uint64_t footer_checksum = 0;
};
/// `footer` is closed and begins at `footer_at`.
DiskBytes encode_trailer(DiskView footer, std::uint64_t footer_at, std::uint32_t entries,
                         const SegmentHeader& header);
/// The result lies inside the segment. Errors: no_footer for zeros, as the segment was never
/// sealed; cut_off, bad_checksum or bad_length for a spoilt trailer.
DiskResult<Trailer> decode_trailer(DiskView sector, const SegmentHeader& header);

/// A footer that was read. The entries view its other members, and a move keeps them valid.
struct Footer {
    Footer() = default;
    Footer(Footer&&) = default;
    Footer& operator=(Footer&&) = default;

    Pages<FooterEntry> entries;  // ascending; they overlap nowhere
    FooterBytes bytes;
    Pages<summary::KeyHash> tags;
};
/// All entries lie before the footer. Errors: bad_checksum, bad_length, bad_type.
DiskResult<Footer> decode_footer(FooterBytes footer, const Trailer& trailer,
                                 const SegmentHeader& header);
/// Decodes `count` entries of put_entry(), for records before sector `end`. Errors: bad_length,
/// bad_type.
DiskResult<Footer> decode_entries(FooterBytes bytes, std::uint32_t count, std::uint64_t end);

}  // namespace proxy
