#include "proxy/disk/footer.hpp"

#include <xxhash.h>

#include <algorithm>

namespace proxy {
namespace {

constexpr std::uint32_t kSegmentMagic = 0x53527348;  // "HsRS"
constexpr std::uint32_t kTrailerMagic = 0x46527348;  // "HsRF"
constexpr std::size_t kEntryBytes = 52;              // before tags and URI

std::uint64_t sum(DiskView bytes, std::uint64_t directory) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), directory);
}

/// Ends a sector: appends the checksum of its bytes so far, and zeros.
void close_sector(DiskBytes& out, std::uint64_t directory) {
    put<std::uint64_t>(out, sum(out, directory));
    out.resize(kDiskSector);
}

/// The right checksum stands behind the first `size` bytes.
bool agrees(DiskView sector, std::size_t size, std::uint64_t directory) {
    return ByteCursor(sector.subspan(size)).number<std::uint64_t>() ==
           sum(sector.first(size), directory);
}

}  // namespace

DiskBytes encode_segment_header(const SegmentHeader& header) {
    DiskBytes out;
    put<std::uint32_t>(out, kSegmentMagic);
    put<std::uint32_t>(out, kDiskFormat);
    put<std::uint64_t>(out, header.home.directory);
    put<std::uint32_t>(out, header.home.segment);
    put<std::uint32_t>(out, 0);
    put<std::uint64_t>(out, header.bytes);
    close_sector(out, header.home.directory);
    return out;
}

DiskResult<SegmentHeader> decode_segment_header(DiskView sector) {
    if (sector.size() < kDiskSector) return DiskError::cut_off;
    ByteCursor in(sector);
    if (in.number<std::uint32_t>() != kSegmentMagic) return DiskError::no_record;
    if (in.number<std::uint32_t>() > kDiskFormat) return DiskError::newer_format;
    SegmentHeader header;
    header.home.directory = in.number<std::uint64_t>();
    header.home.segment = in.number<std::uint32_t>();
    in.number<std::uint32_t>();
    header.bytes = in.number<std::uint64_t>();
    if (!agrees(sector, 32, header.home.directory)) return DiskError::bad_checksum;
    if (header.bytes < 2 * kDiskSector || header.bytes > kMaxSegmentBytes ||
        header.bytes % kDiskSector != 0)
        return DiskError::bad_length;
    return header;
}

FooterEntry footer_entry(const Record& record, std::uint32_t sector, std::uint32_t sectors) {
    FooterEntry entry;
    entry.sector = sector;
    entry.sectors = sectors;
    entry.seq = record.seq;
    entry.stored = record.stored;
    entry.expires = record.expires;
    entry.variant = variant_hash(record.vary_names, record.variant);
    entry.type = record.type;
    entry.uri = record.uri;
    entry.tags = record.tags;
    return entry;
}

std::uint64_t footer_bytes(const FooterEntry& entry) {
    return kEntryBytes + entry.tags.size() * kHashBytes + entry.uri.size();
}
std::uint64_t footer_bytes(const Record& record) {
    return kEntryBytes + record.tags.size() * kHashBytes + record.uri.size();
}

void put_entry(const FooterEntry& entry, FooterBytes& footer) {
    put<std::uint32_t>(footer, entry.sector);
    put<std::uint32_t>(footer, entry.sectors);
    put<std::uint64_t>(footer, entry.seq);
    put<std::int64_t>(footer, entry.stored.time_since_epoch().count());
    put<std::int64_t>(footer, entry.expires.time_since_epoch().count());
    put<std::uint64_t>(footer, entry.variant);
    put<std::uint32_t>(footer, static_cast<std::uint32_t>(entry.uri.size()));
    put<std::uint16_t>(footer, static_cast<std::uint16_t>(entry.tags.size()));
    put<std::uint8_t>(footer, static_cast<std::uint8_t>(entry.type));
    put<std::uint8_t>(footer, 0);
    put<std::uint32_t>(footer, 0);
    for (const auto& tag : entry.tags) put_hash(footer, tag);
    put_text(footer, entry.uri);
}

void close_footer(FooterBytes& footer) {
    footer.resize(whole_sectors(footer.size()));
}

DiskBytes encode_trailer(DiskView footer, std::uint64_t footer_at, std::uint32_t entries,
                         const SegmentHeader& header) {
    DiskBytes out;
    put<std::uint32_t>(out, kTrailerMagic);
    put<std::uint32_t>(out, header.home.segment);
    put<std::uint64_t>(out, footer_at);
    put<std::uint64_t>(out, footer.size());
    put<std::uint32_t>(out, entries);
    put<std::uint32_t>(out, 0);
    put<std::uint64_t>(out, sum(footer, header.home.directory));
    close_sector(out, header.home.directory);
    return out;
}

DiskResult<Trailer> decode_trailer(DiskView sector, const SegmentHeader& header) {
    if (sector.size() < kDiskSector) return DiskError::cut_off;
    if (is_zeros(sector)) return DiskError::no_footer;
    ByteCursor in(sector);
    if (in.number<std::uint32_t>() != kTrailerMagic) return DiskError::bad_checksum;
    const auto segment = in.number<std::uint32_t>();
    Trailer trailer;
    trailer.footer_at = in.number<std::uint64_t>();
    trailer.footer_bytes = in.number<std::uint64_t>();
    trailer.entries = in.number<std::uint32_t>();
    in.number<std::uint32_t>();
    trailer.footer_checksum = in.number<std::uint64_t>();
    if (segment != header.home.segment || !agrees(sector, 40, header.home.directory))
        return DiskError::bad_checksum;
    // Each bound is checked before the sum that relies on it.
    if (trailer.footer_at < kDiskSector || trailer.footer_at % kDiskSector != 0 ||
        trailer.footer_bytes % kDiskSector != 0 || trailer.footer_bytes > kMaxFooterBytes ||
        trailer.footer_at > header.bytes - kDiskSector ||
        trailer.footer_bytes > header.bytes - kDiskSector - trailer.footer_at ||
        trailer.entries > trailer.footer_bytes / kEntryBytes)
        return DiskError::bad_length;
    return trailer;
}

DiskResult<Footer> decode_footer(FooterBytes footer, const Trailer& trailer,
                                 const SegmentHeader& header) {
    if (footer.size() != trailer.footer_bytes) return DiskError::bad_length;
    if (sum(footer, header.home.directory) != trailer.footer_checksum)
        return DiskError::bad_checksum;
    return decode_entries(std::move(footer), trailer.entries, trailer.footer_at / kDiskSector);
}

DiskResult<Footer> decode_entries(FooterBytes bytes, std::uint32_t count, std::uint64_t end) {
    Footer made;
    made.bytes = std::move(bytes);
    made.entries.reserve(std::min<std::uint64_t>(count, made.bytes.size() / kEntryBytes));
    // The entries view it, so it must not grow. Its unused part stays untouched.
    made.tags.reserve(made.bytes.size() / kHashBytes);
    ByteCursor in(made.bytes);
    std::uint64_t free_from = 1;  // the segment's header
    for (std::uint32_t i = 0; i < count; ++i) {
        FooterEntry entry;
        entry.sector = in.number<std::uint32_t>();
        entry.sectors = in.number<std::uint32_t>();
        entry.seq = in.number<std::uint64_t>();
        entry.stored = DiskTime(std::chrono::milliseconds(in.number<std::int64_t>()));
        entry.expires = DiskTime(std::chrono::milliseconds(in.number<std::int64_t>()));
        entry.variant = in.number<std::uint64_t>();
        const auto uri = in.number<std::uint32_t>();
        const auto tags = in.number<std::uint16_t>();
        const auto type = record_type(in.number<std::uint8_t>());
        in.number<std::uint8_t>();
        in.number<std::uint32_t>();
        if (!in.ok() || tags > kMaxRecordTags) return DiskError::bad_length;
        if (!type) return DiskError::bad_type;
        entry.type = *type;
        ByteCursor tag_in(in.take(tags * kHashBytes));
        entry.uri = in.text(uri);
        if (!in.ok()) return DiskError::bad_length;
        const auto first_tag = made.tags.size();
        for (std::uint16_t tag = 0; tag < tags; ++tag) made.tags.push_back(tag_in.hash());
        entry.tags = std::span(made.tags).subspan(first_tag);
        if (entry.sectors == 0 || entry.sector < free_from ||
            std::uint64_t{entry.sector} + entry.sectors > end)
            return DiskError::bad_length;
        free_from = std::uint64_t{entry.sector} + entry.sectors;
        made.entries.push_back(entry);
    }
    return made;
}

}  // namespace proxy
