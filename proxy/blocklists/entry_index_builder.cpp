#include "proxy/blocklists/entry_index_builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace proxy {
namespace {

constexpr std::uint64_t kListBytesPerPart = 8 << 20;  // 400,000 entries or so
constexpr std::size_t kPartBuffer = 256 << 10, kFileBuffer = 1 << 20;
constexpr std::size_t kRecent = 1 << 14;
constexpr std::uint64_t kSortedTogether = 8;     // records
constexpr std::size_t kPrefetch = 16;            // records ahead, as they lie about in memory
constexpr std::uint64_t kRecordsPerBucket = 32;  // at least; twice as many at most

/// An entry of a part: its hash, and where its record begins.
struct Sorted {
    std::uint64_t hash;
    std::uint32_t at;
};

EntryRecord record_at(std::string_view bytes, std::size_t at) {
    EntryRecord record;
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    return record;
}

std::string_view record_bytes(std::string_view bytes, std::size_t at) {
    return bytes.substr(at, sizeof(EntryRecord) + record_at(bytes, at).text_bytes);
}

/// Whether two records are of the same text and kind; list and line may differ.
bool is_same_entry(std::string_view a, std::string_view b) {
    return a.size() == b.size() && record_at(a, 0).kind == record_at(b, 0).kind &&
           a.substr(sizeof(EntryRecord)) == b.substr(sizeof(EntryRecord));
}

/// Sorts the records by hash, then by place. Hashes are uniform, so buckets of the same size divide
/// them into small ones.
std::vector<Sorted> sorted_by_hash(std::string_view bytes, std::uint64_t records,
                                   unsigned part_bits) {
    const auto bits = static_cast<unsigned>(std::bit_width(records / kSortedTogether));
    std::vector<std::uint32_t> next((std::size_t{1} << bits) + 1);
    std::vector<Sorted> mixed;
    mixed.reserve(records);
    for (std::size_t at = 0; at < bytes.size(); at += record_bytes(bytes, at).size()) {
        mixed.push_back({record_at(bytes, at).hash, static_cast<std::uint32_t>(at)});
        ++next[EntryIndex::bucket(mixed.back().hash, part_bits, bits) + 1];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<Sorted> all(mixed.size());
    for (const auto& each : mixed)
        all[next[EntryIndex::bucket(each.hash, part_bits, bits)]++] = each;
    // Each place is the end of its bucket by now.
    auto begin = all.begin();
    for (std::size_t bucket = 0; bucket + 1 < next.size(); ++bucket) {
        const auto end = all.begin() + next[bucket];
        std::sort(begin, end, [](const Sorted& a, const Sorted& b) {
            return a.hash != b.hash ? a.hash < b.hash : a.at < b.at;
        });
        begin = end;
    }
    return all;
}

}  // namespace

struct EntryIndexBuilder::Collected {
    std::string buffer;
    UnlinkedFile file;  // of buffers that were full
    std::uint64_t records = 0;
};

EntryIndexBuilder::EntryIndexBuilder(const summary::KeyHasher& hasher, std::filesystem::path folder,
                                     std::uint64_t list_bytes)
    : hasher_(hasher), folder_(std::move(folder)), recent_(kRecent) {
    part_bits_ = std::min(kMaxPartBits,
                          static_cast<unsigned>(std::bit_width(list_bytes / kListBytesPerPart)));
    parts_.resize(std::size_t{1} << part_bits_);
}

EntryIndexBuilder::~EntryIndexBuilder() = default;

std::string EntryIndexBuilder::cannot(const char* what, const std::error_code& error) const {
    return std::string("cannot ") + what + " a file in " + folder_.string() + ": " +
           error.message();
}

/// The lines about one host stand together in lists of URLs, and each has an entry for the host.
bool EntryIndexBuilder::is_repeated(summary::KeyHash hash, EntryKind kind) {
    hash.low += static_cast<std::uint64_t>(kind);
    auto& recent = recent_[hash.low % kRecent];
    if (recent == hash) return true;
    recent = hash;
    return false;
}

std::string EntryIndexBuilder::add(const ListEntry& entry, std::uint8_t list, std::uint32_t line) {
    const auto hash = hasher_(entry.text);
    if (is_repeated(hash, entry.kind)) return {};
    auto& part = parts_[EntryIndex::upper(hash.high, part_bits_)];
    const EntryRecord record{hash.high, line, list, entry.kind,
                             static_cast<std::uint16_t>(entry.text.size())};
    part.buffer.append(reinterpret_cast<const char*>(&record), sizeof(record)).append(entry.text);
    ++part.records;
    if (part.buffer.size() < kPartBuffer) return {};
    if (!part.file.is_open())
        if (const auto error = part.file.open(folder_)) return cannot("create", error);
    if (const auto error = part.file.append(part.buffer)) return cannot("write", error);
    part.buffer.clear();
    return part.file.bytes() > kMaxPartBytes ? "too many equal entries" : std::string();
}

std::string EntryIndexBuilder::finish(std::uint64_t seed, const std::stop_token& stop,
                                      std::unique_ptr<EntryIndex>& out) {
    UnlinkedFile file;
    if (const auto error = file.open(folder_)) return cannot("create", error);
    std::vector<EntryIndex::Part> parts(parts_.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (stop.stop_requested()) return "stopped";
        auto collected = std::exchange(parts_[i], Collected());  // freed when it is sorted
        if (auto why = sort(collected, file, seed + i, parts[i]); !why.empty()) return why;
    }
    out = std::make_unique<EntryIndex>(part_bits_, std::move(parts), std::move(file));
    return {};
}

/// Appends the sorted records of a part to the file, without repeated ones.
std::string EntryIndexBuilder::sort(Collected& part, UnlinkedFile& file, std::uint64_t seed,
                                    EntryIndex::Part& out) {
    std::string bytes;
    bytes.reserve(part.file.bytes() + part.buffer.size());
    if (const auto error = part.file.read(bytes)) return cannot("read", error);
    bytes.append(part.buffer);
    const auto records = part.records;
    part = Collected();
    out.begin = file.bytes();
    std::vector<std::uint64_t> hashes;
    std::string pending;
    std::uint64_t written = 0;  // of this part, with what is pending
    std::vector<std::string_view> same_hash;
    {
        const auto all = sorted_by_hash(bytes, records, part_bits_);
        out.bucket_bits = static_cast<unsigned>(
            std::bit_width(std::max<std::uint64_t>(all.size() / kRecordsPerBucket, 1)) - 1);
        out.buckets.reserve((std::size_t{1} << out.bucket_bits) + 1);
        hashes.reserve(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& each = all[i];
            if (i + kPrefetch < all.size())
                __builtin_prefetch(bytes.data() + all[i + kPrefetch].at);
            const auto record = record_bytes(bytes, each.at);
            if (hashes.empty() || hashes.back() != each.hash) {
                hashes.push_back(each.hash);
                same_hash.clear();
            }
            if (std::ranges::any_of(same_hash,
                                    [&](auto other) { return is_same_entry(record, other); }))
                continue;
            same_hash.push_back(record);
            const auto bucket = EntryIndex::bucket(each.hash, part_bits_, out.bucket_bits);
            while (out.buckets.size() <= bucket)
                out.buckets.push_back(static_cast<std::uint32_t>(written));
            pending.append(record);
            written += record.size();
            if (pending.size() < kFileBuffer) continue;
            if (const auto error = file.append(pending)) return cannot("write", error);
            pending.clear();
        }
    }
    if (const auto error = file.append(pending)) return cannot("write", error);
    while (out.buckets.size() <= std::size_t{1} << out.bucket_bits)
        out.buckets.push_back(static_cast<std::uint32_t>(written));
    auto filter = EntryIndex::EntryFilter::build(hashes, seed);
    if (!filter) return "cannot build the filter of a part";
    out.filter = std::move(*filter);
    return {};
}

}  // namespace proxy
