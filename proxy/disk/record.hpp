#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/disk/disk_bytes.hpp"
#include "proxy/disk/disk_error.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// Records: what segments consist of, see FORMAT.md. Whatever is decoded here is taken for
/// arbitrary bytes: each length is checked before it is used, and nothing is given that its
/// checksum does not cover, except where a name says so.

inline constexpr std::size_t kDiskSector = 512;  // records begin at multiples of it
inline constexpr std::size_t kRecordHeaderBytes = 64;
inline constexpr std::uint64_t kRecordSliceBytes = 256 * 1024;  // of a body, one checksum each
inline constexpr std::uint64_t kMaxRecordBody = 64ull << 20;
inline constexpr std::uint64_t kMaxRecordHead = 4ull << 20;  // all before the body, together
inline constexpr std::size_t kMaxRecordTags = 2048;
inline constexpr std::size_t kTombstoneHashes = 1024;  // as written: small segments hold it, too
static_assert(kTombstoneHashes <= kMaxRecordTags);

constexpr std::uint64_t whole_sectors(std::uint64_t bytes) {
    return (bytes + kDiskSector - 1) / kDiskSector * kDiskSector;
}

using DiskTime = std::chrono::sys_time<std::chrono::milliseconds>;

enum class RecordType : std::uint8_t {
    response = 1,
    block = 2,     // of a large body; its URI is the block's key
    gone = 3,      // nothing earlier counts whose key or one of whose tags has one of its hashes
    all_gone = 4,  // nothing earlier
};
/// None: there is no such type.
std::optional<RecordType> record_type(std::uint8_t number);
constexpr bool is_tombstone(RecordType type) {
    return type >= RecordType::gone;
}

/// Where a record is: its bytes are good there only.
struct RecordHome {
    std::uint64_t directory = 0;  // the random number of the super file
    std::uint32_t segment = 0;

    bool operator==(const RecordHome&) const = default;
};

/// All of a record but the bytes of its body. Views; what they view belongs to whoever made this.
struct Record {
    RecordType type = RecordType::response;
    std::uint64_t seq = 0;  // later ones are greater within a directory
    DiskTime stored{}, expires{};
    std::string_view uri;
    std::string_view vary_names, variant;  // empty: does not vary
    std::string_view meta;                 // what the store keeps of it besides; not looked into
    std::string_view head;
    std::vector<summary::KeyHash> tags;  // of gone: the hashes, 1 at least
    std::uint64_t body_bytes = 0;
    std::vector<std::uint64_t> slices;  // checksums of the body's; encode_record() ignores them

    bool operator==(const Record&) const = default;
};

/// Stands for the variant in footers and indices.
std::uint64_t variant_hash(std::string_view vary_names, std::string_view variant);

/// What a record takes on the disk, and where its body begins.
struct RecordSizes {
    std::uint64_t prefix = 0;  // header, checksums, texts; then the body, then zeros
    std::uint64_t body = 0;

    std::uint64_t total() const { return whole_sectors(prefix + body); }
    bool operator==(const RecordSizes&) const = default;
};
/// too_large when a record may not hold it.
DiskResult<RecordSizes> sizes_of(const Record& record);

/// Appends header to head, with the checksums of `body`, whose parts are record.body_bytes
/// together. Body and padding are the caller's to write. Precondition: sizes_of(record).
void encode_record(const Record& record, std::span<const iovec> body, RecordHome home,
                   DiskBytes& out);

/// How much there is to read, from the first kRecordHeaderBytes of a record: within the limits, and
/// otherwise not yet proved. Errors: cut_off, no_record, bad_type, bad_length.
DiskResult<RecordSizes> peek_sizes(DiskView header);

/// `prefix`: at least so many bytes as peek_sizes() says. The record views it.
/// Errors: those of peek_sizes(), bad_checksum.
DiskResult<Record> decode_record(DiskView prefix, RecordHome home);

/// Whether these are all bytes of a slice with this checksum.
bool slice_agrees(std::uint64_t checksum, DiskView bytes, RecordHome home);
/// The same for the whole body of a record.
bool body_agrees(const Record& record, DiskView body, RecordHome home);

}  // namespace proxy
