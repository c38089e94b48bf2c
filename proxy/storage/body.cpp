#include "proxy/storage/body.hpp"

#include <algorithm>
#include <cstring>

#include "proxy/disk/record_body.hpp"

namespace proxy {

Body::Body(std::shared_ptr<const RecordBody> on_disk)
    : size_(on_disk->size()), on_disk_(std::move(on_disk)) {}

std::uint64_t Body::memory_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& block : blocks_) bytes += block.capacity;
    return bytes;
}

std::size_t Body::next_block_bytes(std::uint64_t remaining) const {
    if (remaining > 0)
        return static_cast<std::size_t>(std::min<std::uint64_t>(remaining, kBodyBlockBytes));
    if (blocks_.empty()) return kFirstBlockBytes;
    // A quarter more at a time leaves little unused if the body ends soon.
    return std::clamp<std::size_t>(static_cast<std::size_t>(size_ / 4), kFirstBlockBytes,
                                   kBodyBlockBytes);
}

void Body::add_block(std::size_t capacity, base::Charge charge) {
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(capacity),
                       static_cast<std::uint32_t>(capacity), 0, std::move(charge)});
}

std::size_t Body::append(std::string_view data) {
    const auto n = std::min(data.size(), room());
    if (n == 0) return 0;
    auto& block = blocks_.back();
    std::memcpy(block.data.get() + block.used, data.data(), n);
    block.used += static_cast<std::uint32_t>(n);
    size_ += n;
    return n;
}

void Body::drop_before(std::uint64_t offset) {
    auto keep = blocks_.begin();
    while (keep != blocks_.end() && keep->used > 0 && dropped_ + keep->used <= offset) {
        if (keep + 1 == blocks_.end() && keep->used < keep->capacity)
            break;  // the writer still uses it
        dropped_ += keep->used;
        ++keep;
    }
    blocks_.erase(blocks_.begin(), keep);
}

std::uint64_t Body::view(std::uint64_t offset, std::uint64_t max_bytes, std::size_t max_buffers,
                         std::vector<boost::asio::const_buffer>& out) const {
    std::uint64_t start = dropped_;
    std::uint64_t taken = 0;
    for (const auto& block : blocks_) {
        if (taken >= max_bytes || max_buffers == 0) break;
        const auto end = start + block.used;
        if (offset < end) {
            const auto from = static_cast<std::size_t>(std::max(offset, start) - start);
            const auto n = std::min<std::uint64_t>(block.used - from, max_bytes - taken);
            if (n > 0) {
                out.emplace_back(block.data.get() + from, static_cast<std::size_t>(n));
                taken += n;
                --max_buffers;
            }
        }
        start = end;
    }
    return taken;
}

}  // namespace proxy
