#include "proxy/disk/segment_log.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace proxy {
namespace {

constexpr std::uint64_t kReadmittedPart = 4;  // one part in so many of a segment
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::array<char, kDiskSector> kZeros{};

std::uint64_t whole_sectors(std::uint64_t bytes) {
    return (bytes + kDiskSector - 1) / kDiskSector * kDiskSector;
}

}  // namespace

std::uint64_t segment_bytes_for(std::uint64_t cap_bytes) {
    return std::clamp(cap_bytes / 512, 16 * kMiB, 256 * kMiB) / kDiskSector * kDiskSector;
}

SegmentLog::SegmentLog(DiskCalls& calls, Config config, std::vector<SegmentPtr> existing,
                       Reclaiming reclaiming)
    : calls_(calls), config_(std::move(config)), reclaiming_(std::move(reclaiming)) {
    assert(segments_in_cap() >= 3 && config_.segment_bytes % kDiskSector == 0);
    for (auto& segment : existing) {
        stats_.bytes += segment->header.bytes;
        by_number_.emplace(key_of(*segment), segment);
        oldest_.push_back(std::move(segment));
    }
    stats_.segments = oldest_.size();
}

std::uint32_t SegmentLog::key_of(const Segment& segment) {
    return segment.number() & ((1u << kSegmentBits) - 1);
}

std::uint64_t SegmentLog::room_for(const RecordSizes& sizes, std::uint64_t footer_bytes) const {
    return sizes.total() + whole_sectors(footer_bytes_ + footer_bytes) + kDiskSector;
}

bool SegmentLog::has_room(const RecordSizes& sizes, std::uint64_t footer_bytes) const {
    return active_ && sizes.total() + footer_bytes <= config_.segment_bytes / 4 &&
           end_ + room_for(sizes, footer_bytes) <= active_->header.bytes;
}

boost::system::error_code SegmentLog::make_room(const RecordSizes& sizes,
                                                std::uint64_t footer_bytes) {
    if (sizes.total() + footer_bytes > config_.segment_bytes / 4) return DiskError::too_large;
    return has_room(sizes, footer_bytes) ? boost::system::error_code() : roll();
}

DiskPlace SegmentLog::add(const Record& record, std::span<const iovec> body) {
    const auto sizes = sizes_of(record);
    assert(sizes && has_room(*sizes, footer_bytes(record)));
    auto& prefix = prefixes_.emplace_back();
    encode_record(record, body, active_->header.home, prefix);
    parts_.push_back({prefix.data(), prefix.size()});
    for (const auto& part : body)
        if (part.iov_len > 0) parts_.push_back(part);
    if (const auto padding = sizes->total() - sizes->prefix - sizes->body; padding > 0)
        parts_.push_back({const_cast<char*>(kZeros.data()), padding});
    const auto sector = static_cast<std::uint32_t>(end_ / kDiskSector);
    entries_.push_back(
        footer_entry(record, sector, static_cast<std::uint32_t>(sizes->total() / kDiskSector)));
    footer_bytes_ += footer_bytes(record);
    end_ += sizes->total();
    return {key_of(*active_), sector};
}

boost::system::error_code SegmentLog::flush() {
    if (parts_.empty()) return {};
    const auto error = active_->file.write(parts_, written_);
    parts_.clear();
    prefixes_.clear();
    if (error) {
        give_up_active();
        return error;
    }
    {
        const std::lock_guard lock(mutex_);
        stats_.written_bytes += end_ - written_;
    }
    written_ = end_;
    return {};
}

/// Its records stay; without a footer, as the device refused.
void SegmentLog::give_up_active() {
    active_.reset();
    entries_.clear();
    footer_bytes_ = 0;
    end_ = written_ = 0;
}

boost::system::error_code SegmentLog::seal() {
    if (const auto error = flush()) return error;
    if (!active_) return {};
    const auto error = seal_segment(*active_, entries_, end_);
    give_up_active();
    return error;
}

boost::system::error_code SegmentLog::roll() {
    if (const auto error = seal()) return error;
    const auto most = segments_in_cap();
    while (stats().segments + 1 > most) retire(false);
    const SegmentHeader header{{config_.directory_id, config_.next_segment++},
                               config_.segment_bytes};
    auto made = create_segment(calls_, config_.directory, header);
    if (!made && made.error() == boost::system::errc::no_space_on_device &&
        stats().segments > 1) {  // others fill the file system: give back, and try once more
        retire(false);
        made = create_segment(calls_, config_.directory, header);
    }
    if (!made) return made.error();
    active_ = *made;
    end_ = written_ = kDiskSector;
    {
        const std::lock_guard lock(mutex_);
        oldest_.push_back(active_);
        by_number_.emplace(key_of(*active_), active_);
        stats_.bytes += header.bytes;
        stats_.segments = oldest_.size();
    }
    // From the oldest into the new one, so that the next roll finds room for its own.
    if (stats().segments == most) retire(true);
    return active_ ? boost::system::error_code()
                   : boost::system::error_code(EIO, boost::system::system_category());
}

/// Gives the oldest back.
void SegmentLog::retire(bool readmit_used) {
    const auto oldest = [&] {
        const std::lock_guard lock(mutex_);
        return oldest_.front();
    }();
    auto contents = read_contents(*oldest);
    if (contents) {
        auto& entries = contents->entries;
        std::erase_if(entries, [](const FooterEntry& e) { return is_tombstone(e.type); });
        const auto again = readmit_used ? readmit(*oldest, entries) : 0;
        for (const auto& entry : entries)
            reclaiming_.dropped(entry, {key_of(*oldest), entry.sector});
        const std::lock_guard lock(mutex_);
        stats_.readmitted_bytes += again;
    }
    calls_.remove(oldest->path.c_str());
    const std::lock_guard lock(mutex_);
    oldest_.pop_front();
    by_number_.erase(key_of(*oldest));
    stats_.bytes -= oldest->header.bytes;
    stats_.segments = oldest_.size();
    ++stats_.reclaimed;
}

/// Takes out of `entries` what it wrote again, the most used first; how many bytes that were.
std::uint64_t SegmentLog::readmit(const Segment& from, std::vector<FooterEntry>& entries) {
    struct Used {
        std::size_t at;
        unsigned uses;
    };
    std::vector<Used> used;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto uses = reclaiming_.uses(entries[i], {key_of(from), entries[i].sector});
        if (uses && *uses > 0) used.push_back({i, *uses});
    }
    std::ranges::stable_sort(used, std::greater(), &Used::uses);
    struct Moved {
        std::size_t at;
        DiskPlace to;
    };
    std::vector<Moved> moved;
    std::uint64_t bytes = 0;
    const auto most = config_.segment_bytes / kReadmittedPart;
    for (const auto& one : used) {
        const auto& entry = entries[one.at];
        const auto size = std::uint64_t{entry.sectors} * kDiskSector;
        if (bytes + size + footer_bytes_ + footer_bytes(entry) > most) continue;
        const auto loaded = load_record(from, entry.sector, entry.sectors);
        if (!loaded || loaded->record.uri != entry.uri) continue;
        const iovec body{const_cast<std::byte*>(loaded->body.data()), loaded->body.size()};
        const auto to = add(loaded->record, {&body, 1});
        if (flush()) break;  // its bytes go with `loaded`
        moved.push_back({one.at, to});
        bytes += size;
    }
    std::vector<bool> gone(entries.size());
    for (const auto& one : moved) {
        reclaiming_.moved(entries[one.at], {key_of(from), entries[one.at].sector}, one.to);
        gone[one.at] = true;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!gone[i]) {
            if (kept != i) entries[kept] = std::move(entries[i]);
            ++kept;
        }
    entries.resize(kept);
    return bytes;
}

void SegmentLog::set_cap(std::uint64_t bytes) {
    config_.cap_bytes = std::max(bytes, 3 * config_.segment_bytes);
    while (stats().segments > segments_in_cap()) {
        bool is_active = false;
        {
            const std::lock_guard lock(mutex_);
            is_active = oldest_.front() == active_;
        }
        if (is_active) break;
        retire(false);
    }
}

SegmentPtr SegmentLog::find(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_number_.find(number);
    return found == by_number_.end() ? nullptr : found->second;
}

SegmentLog::Stats SegmentLog::stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
}

}  // namespace proxy
