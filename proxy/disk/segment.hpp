#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/disk/disk_file.hpp"
#include "proxy/disk/disk_index.hpp"
#include "proxy/disk/footer.hpp"

namespace proxy {

class RecordBody;

/// One file of records. Its owners can read it after its removal. Any thread may read; the writer
/// alone writes.
struct Segment {
    std::filesystem::path path;
    SegmentHeader header;
    DiskFile file;

    std::uint32_t number() const { return header.home.segment; }
};
using SegmentPtr = std::shared_ptr<const Segment>;

std::string segment_name(std::uint32_t number);  // 00000007.segment
std::optional<std::uint32_t> segment_number(std::string_view file_name);

struct SegmentFile {
    std::filesystem::path path;
    std::uint32_t number = 0;
};
/// The segments of a directory, the newest first. Errors: those of the system.
DiskResult<std::vector<SegmentFile>> segment_files(const std::filesystem::path& directory);

/// Makes a file of header.bytes and reserves all of it. After a failure the file is removed.
DiskResult<SegmentPtr> create_segment(DiskCalls& calls, const std::filesystem::path& directory,
                                      const SegmentHeader& header);
/// Without `home` the header decides whose it is. Errors: those of decode_segment_header();
/// never_begun if even the header is missing; foreign if it has another home.
DiskResult<SegmentPtr> open_segment(DiskCalls& calls, const std::filesystem::path& path,
                                    const std::optional<RecordHome>& home);

/// Writes a closed footer and its trailer after `end`. Precondition: they fit.
boost::system::error_code seal_segment(const Segment& segment, DiskView footer,
                                       std::uint32_t entries, std::uint64_t end);

struct SegmentContents {
    Footer footer;        // as read, or rebuilt from the records
    bool sealed = false;  // the footer was read and is good
    /// A record is unreadable although good ones follow it, or the footer of a sealed segment is
    /// spoilt.
    bool damaged = false;
    /// The last record is incomplete, as a kill leaves it. The entries lack it.
    bool torn = false;
};
/// Reads the footer. Without a good one it searches for records and leaves their bodies unread,
/// except that of the last one. Fails only if the disk does.
DiskResult<SegmentContents> read_contents(const Segment& segment);

/// The place at which a segment with room can be continued, and its footer so far.
struct SegmentEnd {
    SegmentPtr segment;
    bool sealed = false;  // see unseal_segment()
    FooterBytes footer;   // open
    std::uint32_t entries = 0;
    std::uint64_t end = 0;  // of its last record
};
SegmentEnd end_of(SegmentPtr segment, const SegmentContents& contents);
/// Removes the trailer and waits for the device, so that the footer may be overwritten. From then
/// on its records are found one by one.
boost::system::error_code unseal_segment(const Segment& segment);

/// A record with all its bytes. All checksums agreed.
struct LoadedRecord {
    LoadedRecord() = default;
    LoadedRecord(LoadedRecord&&) = default;
    LoadedRecord& operator=(LoadedRecord&&) = default;

    Record record;  // views `bytes`
    DiskView body;
    DiskBytes bytes;
    /// Set if the body may be sent from its segment.
    std::shared_ptr<RecordBody> in_place;
};
/// `sectors` is the size of the first read; any number is correct.
DiskResult<LoadedRecord> load_record(const Segment& segment, std::uint32_t sector,
                                     std::uint32_t sectors);
/// The same from bytes that were read at the place. Errors: those of decode_record().
DiskResult<LoadedRecord> load_record(DiskBytes bytes, RecordHome home);

}  // namespace proxy
