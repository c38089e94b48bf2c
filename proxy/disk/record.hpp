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
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Records, the content of segments; FORMAT.md has the bytes. The decoders accept arbitrary bytes:
/// they check each length before its use, and return only bytes that a checksum covers, except
/// where a name says otherwise.

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
    gone = 3,      // ends earlier records whose key or tag is among its hashes
    all_gone = 4,  // ends all earlier records
};
/// None for an unknown number.
std::optional<RecordType> record_type(std::uint8_t number);
constexpr bool is_tombstone(RecordType type) {
    return type >= RecordType::gone;
}

/// The place for which a record was written; its checksums fail anywhere else.
struct RecordHome {
    std::uint64_t directory = 0;  // the random number of the super file
    std::uint32_t segment = 0;

    bool operator==(const RecordHome&) const = default;
};

/// A record up to its body. Its views belong to the maker of the record.
struct Record {
    RecordType type = RecordType::response;
    std::uint64_t seq = 0;  // increases within a directory
    DiskTime stored{}, expires{};
    std::string_view uri;
    std::string_view vary_names, variant;  // empty if it does not vary
    std::string_view meta;                 // further data of the store, opaque here
    std::string_view head;
    std::vector<summary::KeyHash> tags;  // for `gone`: its hashes, at least 1
    std::uint64_t body_bytes = 0;
    std::vector<std::uint64_t> slices;  // checksums of the body, set by decode_record()

    bool operator==(const Record&) const = default;
};

/// Represents the variant in footers and indices.
std::uint64_t variant_hash(std::string_view vary_names, std::string_view variant);

/// The size of a record on the disk, and the offset of its body.
struct RecordSizes {
    std::uint64_t prefix = 0;  // header, checksums, texts; then the body, then zeros
    std::uint64_t body = 0;

    std::uint64_t total() const { return whole_sectors(prefix + body); }
    bool operator==(const RecordSizes&) const = default;
};
/// Error: too_large.
DiskResult<RecordSizes> sizes_of(const Record& record);

/// Appends all parts from the header to the head, with the checksums of `body`, whose parts are
/// record.body_bytes together. The caller writes body and padding. Precondition: sizes_of(record)
/// succeeds.
void encode_record(const Record& record, std::span<const iovec> body, RecordHome home,
                   DiskBytes& out);

/// The sizes in the first kRecordHeaderBytes of a record: within the limits, but unverified.
/// Errors: cut_off, no_record, bad_type, bad_length.
DiskResult<RecordSizes> peek_sizes(DiskView header);

/// `prefix` has at least the bytes that peek_sizes() names, and the record views it. Errors: those
/// of peek_sizes(), and bad_checksum.
DiskResult<Record> decode_record(DiskView prefix, RecordHome home);

/// These are all bytes of a slice with this checksum.
bool slice_agrees(std::uint64_t checksum, DiskView bytes, RecordHome home);
/// The same for the whole body of a record.
bool body_agrees(const Record& record, DiskView body, RecordHome home);

}  // namespace proxy
