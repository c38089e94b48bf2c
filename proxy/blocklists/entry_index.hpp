#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "proxy/blocklists/list_line.hpp"
#include "proxy/blocklists/unlinked_file.hpp"
#include "summary/filters/binary_fuse_filter.hpp"

namespace proxy {

/// An entry as the file has it; its text follows. A file is written and read by one process, so the
/// bytes are those of the machine, and there is no version.
struct EntryRecord {
    std::uint64_t hash = 0;  // of the text
    std::uint32_t line = 0;
    std::uint8_t list = 0;
    EntryKind kind = EntryKind::domain;
    std::uint16_t text_bytes = 0;
};
static_assert(sizeof(EntryRecord) == 16);
static_assert(kMaxBlocklists <= 1 + UINT8_MAX && kMaxListLine <= UINT16_MAX);

/// The entries of all lists: a filter in memory over a file that is sorted by hash. The
/// filter answers nearly every question with no. The file confirms the rest: it has the entries of
/// one hash beside each other, in a bucket of some 48 records whose place is known, so that a
/// look-up reads one or two pages. Memory: 2.2 bytes per hash for the filter and about 0.1 for the
/// places of buckets. Any number of threads.
///
/// A confirmation reads its bucket with one call, and may wait for the disk that holds the file.
/// That is rare: it follows a positive answer of the filter, and the system has the pages of a new
/// file in its cache. A mapping in place of the call would end the process where the disk fails.
class EntryIndex {
public:
    using EntryFilter = summary::BinaryFuseFilter<std::uint16_t, 4>;

    /// The hashes with the same upper bits.
    struct Part {
        EntryFilter filter;
        std::uint64_t begin = 0;             // in the file
        unsigned bucket_bits = 0;            // the next bits of a hash choose its bucket
        std::vector<std::uint32_t> buckets;  // where each begins within the part, and the end
    };

    EntryIndex() = default;
    /// `parts`: 2^part_bits of them.
    EntryIndex(unsigned part_bits, std::vector<Part> parts, UnlinkedFile file);

    /// Brings the filter's memory for this hash on its way into the processor's cache.
    void prefetch(std::uint64_t hash) const {
        if (!parts_.empty()) parts_[upper(hash, part_bits_)].filter.prefetch(hash);
    }
    /// False: no entry has this hash. True for an EntryFilter::kError of the other hashes.
    bool may_have(std::uint64_t hash) const {
        return !parts_.empty() && parts_[upper(hash, part_bits_)].filter.contains(hash);
    }

    /// Calls `take(const EntryRecord&)` for each entry with this hash and text. Returns why the
    /// file cannot be read, if so; then nothing was taken.
    template <class Take>
    std::error_code each(std::uint64_t hash, std::string_view text, const Take& take) const {
        std::string bytes;
        if (const auto error = read_bucket(hash, bytes)) return error;
        for (std::string_view rest(bytes); rest.size() >= sizeof(EntryRecord);) {
            EntryRecord record;
            std::memcpy(&record, rest.data(), sizeof(record));
            rest.remove_prefix(sizeof(record));
            const auto size = std::min<std::size_t>(record.text_bytes, rest.size());
            if (record.hash == hash && rest.substr(0, size) == text) take(record);
            if (record.hash > hash) break;
            rest.remove_prefix(size);
        }
        return {};
    }

    std::uint64_t hashes() const { return hashes_; }
    /// Of filter and places of buckets.
    std::uint64_t memory_bytes() const { return memory_bytes_; }
    std::uint64_t file_bytes() const { return file_.bytes(); }

    /// The `bits` upper bits of a hash.
    static std::size_t upper(std::uint64_t hash, unsigned bits) {
        return static_cast<std::size_t>((hash >> 1) >> (63 - bits));
    }
    static std::size_t bucket(std::uint64_t hash, unsigned part_bits, unsigned bucket_bits) {
        return upper(hash << part_bits, bucket_bits);
    }

private:
    std::error_code read_bucket(std::uint64_t hash, std::string& out) const;

    unsigned part_bits_ = 0;
    std::vector<Part> parts_;
    UnlinkedFile file_;
    std::uint64_t hashes_ = 0, memory_bytes_ = 0;
};

}  // namespace proxy
