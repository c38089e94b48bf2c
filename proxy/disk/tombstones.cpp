#include "proxy/disk/tombstones.hpp"

#include <algorithm>
#include <vector>

namespace proxy {

bool Tombstones::note(const FooterEntry& entry) {
    const std::lock_guard lock(mutex_);
    if (entry.type == RecordType::all_gone) add_all(entry.seq);
    return entry.type == RecordType::gone && add(entry.tags, entry.seq);
}

bool Tombstones::add(std::span<const summary::KeyHash> hashes, std::uint64_t seq) {
    if (hashes.empty()) return false;
    newest_ = std::max(newest_.load(), seq);
    auto exceeded = false;
    for (const auto& hash : hashes) {
        if (seq <= all_) break;  // all_ covers as much
        if (hashes_.size() >= most_ && !hashes_.contains(hash)) {
            overflow();
            exceeded = true;
        }
        auto& known = hashes_[hash];
        known = std::max(known, seq);
    }
    return exceeded;
}

void Tombstones::add_all(std::uint64_t seq) {
    newest_ = std::max(newest_.load(), seq);
    if (seq <= all_) return;
    all_ = seq;
    boost::unordered::erase_if(hashes_, [seq](const auto& one) { return one.second <= seq; });
}

void Tombstones::forget(const FooterEntry& entry) {
    if (entry.type != RecordType::gone) return;
    const std::lock_guard lock(mutex_);
    for (const auto& hash : entry.tags) {
        const auto known = hashes_.find(hash);
        if (known != hashes_.end() && known->second <= entry.seq) hashes_.erase(known);
    }
}

std::size_t Tombstones::size() const {
    const std::lock_guard lock(mutex_);
    return hashes_.size();
}

bool Tombstones::cover(std::uint64_t seq, summary::KeyHash key,
                       std::span<const summary::KeyHash> tags) const {
    if (seq >= newest_) return false;
    const std::lock_guard lock(mutex_);
    if (seq < all_) return true;
    const auto ends = [&](const summary::KeyHash& hash) {
        const auto known = hashes_.find(hash);
        return known != hashes_.end() && seq < known->second;
    };
    return ends(key) || std::ranges::any_of(tags, ends);
}

void Tombstones::overflow() {
    std::vector<std::uint64_t> seqs;
    seqs.reserve(hashes_.size());
    for (const auto& one : hashes_) seqs.push_back(one.second);
    const auto middle = seqs.begin() + static_cast<std::ptrdiff_t>(seqs.size() / 2);
    std::ranges::nth_element(seqs, middle);
    add_all(*middle);
}

}  // namespace proxy
