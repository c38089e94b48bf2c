#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/disk/footer.hpp"

namespace proxy {

/// What records must not count any more: those of a URI, with a tag, or all, that were written
/// before a tombstone. One thread.
class Tombstones {
public:
    /// Anything but a tombstone is left alone.
    void note(const FooterEntry& entry);
    bool cover(std::uint64_t seq, std::string_view uri,
               std::span<const summary::KeyHash> tags) const;
    bool cover(const FooterEntry& entry) const { return cover(entry.seq, entry.uri, entry.tags); }
    bool cover(const Record& record) const { return cover(record.seq, record.uri, record.tags); }

    std::size_t size() const { return uris_.size() + tags_.size() + (all_ > 0 ? 1 : 0); }

private:
    std::uint64_t all_ = 0;  // all before this one
    boost::unordered_flat_map<std::string, std::uint64_t> uris_;
    boost::unordered_flat_map<summary::KeyHash, std::uint64_t, summary::HashOfKeyHash> tags_;
};

}  // namespace proxy
