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

/// One file of records. Stays readable for who holds it, also when it has been removed. Any thread,
/// but for writing.
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
/// Those of a directory, the newest first. Errors: those of the system.
DiskResult<std::vector<SegmentFile>> segment_files(const std::filesystem::path& directory);

/// Makes a file of header.bytes, all of it reserved; nothing is left behind when that fails.
DiskResult<SegmentPtr> create_segment(DiskCalls& calls, const std::filesystem::path& directory,
                                      const SegmentHeader& header);
/// Errors: those of decode_segment_header(); never_begun when nothing was written, not even the
/// header; foreign when it is of another home than this; without one it is whose it says itself.
DiskResult<SegmentPtr> open_segment(DiskCalls& calls, const std::filesystem::path& path,
                                    const std::optional<RecordHome>& home);

/// Writes a closed footer and its trailer behind what ends at `end`. Precondition: they fit.
boost::system::error_code seal_segment(const Segment& segment, DiskView footer,
                                       std::uint32_t entries, std::uint64_t end);

struct SegmentContents {
    Footer footer;        // as it was read, or would have been written
    bool sealed = false;  // it was read, and agreed
    /// Something that had been a record could not be read: good ones follow behind it, or the
    /// segment was sealed and its footer is spoilt.
    bool damaged = false;
    /// What was written last is not whole, as a kill leaves it: it is not among the entries.
    bool torn = false;
};
/// By its footer, else by looking for records, whose bodies are not read then, but for the last
/// one's. Fails only when the disk does.
DiskResult<SegmentContents> read_contents(const Segment& segment);

/// Where a segment that has room may be gone on with, and what its footer has so far.
struct SegmentEnd {
    SegmentPtr segment;
    bool sealed = false;  // see unseal_segment()
    FooterBytes footer;   // not closed
    std::uint32_t entries = 0;
    std::uint64_t end = 0;  // what stands behind it is none of its records
};
SegmentEnd end_of(SegmentPtr segment, const SegmentContents& contents);
/// Takes the trailer away, and waits for the device: only then may its footer be written over. Its
/// records are found one by one from now on.
boost::system::error_code unseal_segment(const Segment& segment);

/// A record with all its bytes, every checksum of which agreed.
struct LoadedRecord {
    LoadedRecord() = default;
    LoadedRecord(LoadedRecord&&) = default;
    LoadedRecord& operator=(LoadedRecord&&) = default;

    Record record;  // views `bytes`
    DiskView body;
    DiskBytes bytes;
    /// Set where the body may be sent from where it stands.
    std::shared_ptr<RecordBody> in_place;
};
/// `sectors`: how much to read at first; any number will do.
DiskResult<LoadedRecord> load_record(const Segment& segment, std::uint32_t sector,
                                     std::uint32_t sectors);
/// The same from bytes that were read at the place. Errors: those of decode_record().
DiskResult<LoadedRecord> load_record(DiskBytes bytes, RecordHome home);

}  // namespace proxy
