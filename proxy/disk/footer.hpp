#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/disk/pages.hpp"
#include "proxy/disk/record.hpp"

namespace proxy {

/// The beginning of a segment, and the table of contents with which it is sealed: restart and
/// reclamation read that instead of all records. See FORMAT.md.

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

/// What is told of one record without reading it. A view: see whoever gives it.
struct FooterEntry {
    std::uint32_t sector = 0;   // where it begins, in kDiskSector
    std::uint32_t sectors = 0;  // what it takes
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
/// Views what the record views, and its tags.
FooterEntry footer_entry(const Record& record, std::uint32_t sector, std::uint32_t sectors);
/// What put_entry() appends for it.
std::uint64_t footer_bytes(const FooterEntry& entry);
std::uint64_t footer_bytes(const Record& record);

using FooterBytes = Pages<std::byte>;

/// A footer is made entry by entry, and then filled up with zeros to whole sectors.
void put_entry(const FooterEntry& entry, FooterBytes& footer);
void close_footer(FooterBytes& footer);

/// The last sector of a sealed segment: where its footer is.
struct Trailer {
    std::uint64_t footer_at = 0, footer_bytes = 0;
    std::uint32_t entries = 0;
    std::uint64_t footer_checksum = 0;
};
/// `footer`: as close_footer() left it, to stand at `footer_at`.
DiskBytes encode_trailer(DiskView footer, std::uint64_t footer_at, std::uint32_t entries,
                         const SegmentHeader& header);
/// Gives only what lies inside the segment. Errors: no_footer: there are zeros, it was never
/// sealed; of all else, which was a trailer once, cut_off, bad_checksum, bad_length.
DiskResult<Trailer> decode_trailer(DiskView sector, const SegmentHeader& header);

/// A footer that was read. Its entries view the rest of it, wherever that is moved.
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
/// What put_entry() made, `count` times, of records before sector `end`. Errors: bad_length,
/// bad_type.
DiskResult<Footer> decode_entries(FooterBytes bytes, std::uint32_t count, std::uint64_t end);

}  // namespace proxy
