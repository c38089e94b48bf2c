#include "proxy/blocklists/entry_index.hpp"

#include <utility>

namespace proxy {

EntryIndex::EntryIndex(unsigned part_bits, std::vector<Part> parts, UnlinkedFile file)
    : part_bits_(part_bits), parts_(std::move(parts)), file_(std::move(file)) {
    for (const auto& part : parts_) {
        hashes_ += part.filter.keys();
        memory_bytes_ += sizeof(Part) + part.filter.bytes() +
                         part.buckets.capacity() * sizeof(part.buckets.front());
    }
}

std::error_code EntryIndex::read_bucket(std::uint64_t hash, std::string& out) const {
    if (parts_.empty()) return {};
    const auto& part = parts_[upper(hash, part_bits_)];
    const auto bucket = EntryIndex::bucket(hash, part_bits_, part.bucket_bits);
    if (bucket + 1 >= part.buckets.size()) return {};
    const auto begin = part.buckets[bucket], end = part.buckets[bucket + 1];
    if (begin > end || part.begin + end > file_.bytes()) return {};
    return file_.read(part.begin + begin, end - begin, out);
}

}  // namespace proxy
