#include "proxy/disk/segment.hpp"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace proxy {
namespace {

constexpr std::string_view kSuffix = ".segment";
constexpr std::size_t kDigits = 8;

/// Gives pieces of a file, and reads somewhat more than requested.
class Window {
public:
    explicit Window(const Segment& segment) : segment_(segment) {}

    /// Less than `count` only at the end of the file.
    DiskResult<DiskView> at(std::uint64_t offset, std::size_t count) {
        if (offset < begin_ || offset + count > begin_ + size_) {
            bytes_.resize(std::max<std::size_t>(count, 256 * 1024));
            begin_ = offset;
            size_ = 0;
            const auto got = segment_.file.read_some(bytes_, offset);
            if (!got) return got.error();
            size_ = *got;
        }
        const auto skipped = offset - begin_;
        return DiskView(bytes_).subspan(skipped, std::min(count, size_ - skipped));
    }

private:
    const Segment& segment_;
    DiskBytes bytes_;
    std::uint64_t begin_ = 0;
    std::size_t size_ = 0;
};

/// The error of a file without a header: never_begun if both the header and the trailer are zeros,
/// because every write leaves bytes in one of them; else the error of the header.
boost::system::error_code without_beginning(const DiskFile& file) {
    const auto size = file.size();
    if (!size) return size.error();
    DiskBytes sectors(2 * kDiskSector);
    for (const auto at : {std::uint64_t{0}, *size - std::min<std::uint64_t>(*size, kDiskSector)}) {
        const auto got = file.read_some(sectors, at);
        if (!got) return got.error();
        if (!is_zeros(DiskView(sectors).first(*got))) return DiskError::no_record;
    }
    return DiskError::never_begun;
}

DiskResult<SegmentContents> scan(const Segment& segment) {
    SegmentContents found;
    FooterBytes entries;
    std::uint32_t count = 0;
    Window window(segment);
    bool gap = false;
    for (std::uint64_t at = kDiskSector; at + kDiskSector <= segment.header.bytes;) {
        const auto start = window.at(at, kRecordHeaderBytes);
        if (!start) return start.error();
        const auto sizes = peek_sizes(*start);
        if (!sizes && sizes.error() == DiskError::cut_off) break;
        if (sizes && sizes->total() <= segment.header.bytes - at) {
            const auto prefix = window.at(at, sizes->prefix);
            if (!prefix) return prefix.error();
            if (const auto record = decode_record(*prefix, segment.header.home)) {
                put_entry(footer_entry(*record, static_cast<std::uint32_t>(at / kDiskSector),
                                       static_cast<std::uint32_t>(sizes->total() / kDiskSector)),
                          entries);
                ++count;
                found.damaged = found.damaged || gap;
                at += sizes->total();
                continue;
            }
        }
        gap = true;
        at += kDiskSector;
    }
    auto footer = decode_entries(std::move(entries), count, segment.header.bytes / kDiskSector);
    if (!footer) return footer.error();
    found.footer = std::move(*footer);
    if (found.footer.entries.empty()) return found;
    // A kill may leave the head of a record and a part of its body.
    const auto& last = found.footer.entries.back();
    if (const auto loaded = load_record(segment, last.sector, last.sectors); !loaded) {
        if (is_of_system(loaded.error())) return loaded.error();
        found.torn = true;
        found.footer.entries.pop_back();
    }
    return found;
}

DiskResult<Footer> read_footer(const Segment& segment) {
    DiskBytes sector(kDiskSector);
    if (const auto error = segment.file.read(sector, segment.header.bytes - kDiskSector))
        return error;
    const auto trailer = decode_trailer(sector, segment.header);
    if (!trailer) return trailer.error();
    FooterBytes footer(trailer->footer_bytes);
    if (const auto error = segment.file.read(footer, trailer->footer_at)) return error;
    return decode_footer(std::move(footer), *trailer, segment.header);
}

}  // namespace

DiskResult<std::vector<SegmentFile>> segment_files(const std::filesystem::path& directory) {
    std::vector<SegmentFile> files;
    std::error_code error;
    std::filesystem::directory_iterator at(directory, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error))
        if (const auto number = segment_number(at->path().filename().string()))
            files.push_back({at->path(), *number});
    if (error) return of_system(error.value());
    std::ranges::sort(files, std::greater(), &SegmentFile::number);
    return files;
}

std::string segment_name(std::uint32_t number) {
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x", number);
    return std::string(digits).append(kSuffix);
}

std::optional<std::uint32_t> segment_number(std::string_view name) {
    if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
    std::uint32_t number = 0;
    const auto* end = name.data() + kDigits;
    const auto read = std::from_chars(name.data(), end, number, 16);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    // The highest number would leave none for the next segment.
    if (number == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return number;
}

DiskResult<SegmentPtr> create_segment(DiskCalls& calls, const std::filesystem::path& directory,
                                      const SegmentHeader& header) {
    auto segment = std::make_shared<Segment>();
    segment->path = directory / segment_name(header.home.segment);
    segment->header = header;
    auto file = DiskFile::open(calls, segment->path, O_RDWR | O_CREAT | O_EXCL);
    if (!file) return file.error();
    segment->file = std::move(*file);
    segment->file.read_nothing_ahead();
    auto error = segment->file.reserve(header.bytes);
    if (!error) error = segment->file.write(DiskView(encode_segment_header(header)), 0);
    if (error) {
        calls.remove(segment->path.c_str());
        return error;
    }
    return SegmentPtr(std::move(segment));
}

DiskResult<SegmentPtr> open_segment(DiskCalls& calls, const std::filesystem::path& path,
                                    const std::optional<RecordHome>& home) {
    auto file = DiskFile::open(calls, path, O_RDWR);
    if (!file) return file.error();
    DiskBytes sector(kDiskSector);
    const auto got = file->read_some(sector, 0);
    if (!got) return got.error();
    sector.resize(*got);
    if (is_zeros(sector)) return without_beginning(*file);
    const auto header = decode_segment_header(sector);
    if (!header) return header.error();
    if (home && header->home != *home) return DiskError::foreign;
    auto segment = std::make_shared<Segment>();
    segment->path = path;
    segment->header = *header;
    segment->file = std::move(*file);
    segment->file.read_nothing_ahead();
    return SegmentPtr(std::move(segment));
}

boost::system::error_code seal_segment(const Segment& segment, DiskView footer,
                                       std::uint32_t entries, std::uint64_t end) {
    const auto trailer = encode_trailer(footer, end, entries, segment.header);
    if (const auto error = segment.file.write(footer, end)) return error;
    return segment.file.write(DiskView(trailer), segment.header.bytes - kDiskSector);
}

DiskResult<SegmentContents> read_contents(const Segment& segment) {
    auto footer = read_footer(segment);
    if (footer) return SegmentContents{std::move(*footer), true, false};
    if (is_of_system(footer.error())) return footer.error();
    auto found = scan(segment);
    if (found && footer.error() != DiskError::no_footer) found->damaged = true;
    return found;
}

SegmentEnd end_of(SegmentPtr segment, const SegmentContents& contents) {
    SegmentEnd end;
    end.segment = std::move(segment);
    end.sealed = contents.sealed;
    end.end = kDiskSector;
    for (const auto& entry : contents.footer.entries) {
        put_entry(entry, end.footer);
        ++end.entries;
        end.end = (std::uint64_t{entry.sector} + entry.sectors) * kDiskSector;
    }
    return end;
}

boost::system::error_code unseal_segment(const Segment& segment) {
    const DiskBytes zeros(kDiskSector);
    if (const auto error = segment.file.write(DiskView(zeros), segment.header.bytes - kDiskSector))
        return error;
    return segment.file.sync();
}

DiskResult<LoadedRecord> load_record(DiskBytes bytes, RecordHome home) {
    LoadedRecord loaded;
    loaded.bytes = std::move(bytes);
    auto record = decode_record(loaded.bytes, home);
    if (!record) return record.error();
    const auto sizes = peek_sizes(loaded.bytes);
    if (loaded.bytes.size() < sizes->prefix + sizes->body) return DiskError::cut_off;
    loaded.record = std::move(*record);
    loaded.body = DiskView(loaded.bytes).subspan(sizes->prefix, sizes->body);
    if (!body_agrees(loaded.record, loaded.body, home)) return DiskError::bad_checksum;
    return loaded;
}

DiskResult<LoadedRecord> load_record(const Segment& segment, std::uint32_t sector,
                                     std::uint32_t sectors) {
    const auto at = std::uint64_t{sector} * kDiskSector;
    if (at + kDiskSector > segment.header.bytes) return DiskError::bad_length;
    const auto room = segment.header.bytes - at;
    const auto first = std::clamp<std::uint64_t>(std::uint64_t{sectors} * kDiskSector, kDiskSector,
                                                 std::min(room, kMaxRecordBody));
    DiskBytes bytes(first);
    const auto got = segment.file.read_some(bytes, at);
    if (!got) return got.error();
    bytes.resize(*got);
    const auto sizes = peek_sizes(bytes);
    if (!sizes) return sizes.error();
    const auto all = sizes->prefix + sizes->body;
    if (all > room) return DiskError::bad_length;
    if (bytes.size() < all) {
        const auto have = bytes.size();
        bytes.resize(all);
        if (const auto error = segment.file.read(std::span(bytes).subspan(have), at + have))
            return error;
    }
    return load_record(std::move(bytes), segment.header.home);
}

}  // namespace proxy
