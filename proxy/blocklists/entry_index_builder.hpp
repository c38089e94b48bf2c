#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "proxy/blocklists/entry_index.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Builds an EntryIndex of any number of entries in bounded memory: it distributes them to parts by
/// the upper bits of their hashes, in files without names, then sorts one part at a time. Memory
/// besides the index: 256 KiB for each of at most 64 parts, then some 100 bytes for each entry of
/// one part; a hundred million entries in all make parts of 1.6 million. Disk: the entries twice.
/// Of equal entries the first one stays. One thread, which waits for the disk.
class EntryIndexBuilder {
public:
    static constexpr unsigned kMaxPartBits = 6;
    /// Of one part. Only a list of very many equal entries could need more.
    static constexpr std::uint64_t kMaxPartBytes = std::uint64_t{1} << 30;

    /// `list_bytes`: of all lists together, which decides about the number of parts. `hasher`
    /// outlives this object.
    EntryIndexBuilder(const summary::KeyHasher& hasher, std::filesystem::path folder,
                      std::uint64_t list_bytes);
    ~EntryIndexBuilder();

    /// Returns an empty string, or why the entry could not be written.
    std::string add(const ListEntry& entry, std::uint8_t list, std::uint32_t line);

    /// Sorts the entries and builds the index; nothing is left here. Returns an empty string, or
    /// why that was impossible. `seed`: of the filters. A requested stop ends it.
    std::string finish(std::uint64_t seed, const std::stop_token& stop,
                       std::unique_ptr<EntryIndex>& out);

private:
    struct Collected;

    std::string cannot(const char* what, const std::error_code& error) const;
    bool is_repeated(summary::KeyHash hash, EntryKind kind);
    std::string sort(Collected& part, UnlinkedFile& file, std::uint64_t seed,
                     EntryIndex::Part& out);

    const summary::KeyHasher& hasher_;
    const std::filesystem::path folder_;
    unsigned part_bits_ = 0;
    std::vector<Collected> parts_;
    std::vector<summary::KeyHash> recent_;  // entries, by their hashes
};

}  // namespace proxy
