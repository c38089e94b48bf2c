#include "proxy/disk/tombstones.hpp"

namespace proxy {

void Tombstones::note(const FooterEntry& entry) {
    const auto raise = [&](std::uint64_t& seq) { seq = std::max(seq, entry.seq); };
    switch (entry.type) {
        case RecordType::response:
        case RecordType::block:
            return;
        case RecordType::uri_gone:
            return raise(uris_[entry.uri]);
        case RecordType::tag_gone:
            for (const auto& tag : entry.tags) raise(tags_[tag]);
            return;
        case RecordType::all_gone:
            return raise(all_);
    }
}

bool Tombstones::cover(std::uint64_t seq, std::string_view uri,
                       std::span<const summary::KeyHash> tags) const {
    if (seq < all_) return true;
    if (!uris_.empty()) {
        const auto found = uris_.find(std::string(uri));
        if (found != uris_.end() && seq < found->second) return true;
    }
    return std::ranges::any_of(tags, [&](const summary::KeyHash& tag) {
        const auto found = tags_.find(tag);
        return found != tags_.end() && seq < found->second;
    });
}

}  // namespace proxy
