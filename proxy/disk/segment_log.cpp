#include "proxy/disk/segment_log.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace proxy {
namespace {

// At most one part in so many is written again: of a segment, and of all written bytes.
constexpr std::uint64_t kReadmittedPart = 4, kReadmittedPartOfAll = 6;
constexpr std::size_t kMostSegments = (1u << kNumberBits) - 1;  // with different numbers
constexpr std::array<char, kDiskSector> kZeros{};

}  // namespace

std::uint64_t readmittable(std::uint64_t segment_bytes, std::uint64_t written,
                           std::uint64_t readmitted) {
    const auto earned = written / kReadmittedPartOfAll;
    return std::min(segment_bytes / kReadmittedPart, earned - std::min(earned, readmitted));
}

SegmentLog::SegmentLog(DiskCalls& calls, Config config, ReclaimHooks reclaim_hooks, SyncLater sync)
    : calls_(calls),
      config_(std::move(config)),
      reclaim_hooks_(std::move(reclaim_hooks)),
      sync_(std::move(sync)) {
    assert(config_.segment_bytes % kDiskSector == 0 && config_.segment_bytes <= kMaxSegmentBytes);
    set_cap(config_.cap_bytes);
}

bool SegmentLog::adopt(SegmentPtr older) {
    const std::lock_guard lock(mutex_);
    if (!by_number_.emplace(place_number(older->number()), older).second) return false;
    stats_.bytes += older->header.bytes;
    oldest_.push_front(std::move(older));
    stats_.segments = oldest_.size();
    return true;
}

boost::system::error_code SegmentLog::go_on(SegmentEnd end) {
    assert(!active_.segment);
    {
        const std::lock_guard lock(mutex_);
        if (oldest_.empty() || oldest_.back() != end.segment) return {};
    }
    if (end.segment->header.bytes != stats().segment_bytes) return {};
    // The file may be shorter than its header says.
    if (const auto error = end.segment->file.reserve(end.segment->header.bytes)) return error;
    if (end.sealed)
        if (const auto error = unseal_segment(*end.segment)) return error;
    active_ = std::move(end);
    written_ = active_.end;
    return {};
}

std::uint64_t SegmentLog::room_for(const RecordSizes& sizes, std::uint64_t footer_bytes) const {
    return sizes.total() + whole_sectors(active_.footer.size() + footer_bytes) + kDiskSector;
}

bool SegmentLog::has_room(const RecordSizes& sizes, std::uint64_t footer_bytes) const {
    return active_.segment && sizes.total() + footer_bytes <= active_.segment->header.bytes / 4 &&
           whole_sectors(active_.footer.size() + footer_bytes) <= kMaxFooterBytes &&
           active_.end + room_for(sizes, footer_bytes) <= active_.segment->header.bytes;
}

boost::system::error_code SegmentLog::make_room(const RecordSizes& sizes,
                                                std::uint64_t footer_bytes, Need need) {
    if (has_room(sizes, footer_bytes)) return {};
    if (sizes.total() + footer_bytes > stats().segment_bytes / 4) return DiskError::too_large;
    if (const auto error = roll(need)) return error;
    // The cap may have changed meanwhile.
    return has_room(sizes, footer_bytes) ? boost::system::error_code() : DiskError::too_large;
}

RecordLocation SegmentLog::add(const Record& record, std::span<const iovec> body) {
    const auto sizes = sizes_of(record);
    assert(sizes && has_room(*sizes, footer_bytes(record)));
    auto& prefix = prefixes_.emplace_back();
    encode_record(record, body, active_.segment->header.home, prefix);
    parts_.push_back({prefix.data(), prefix.size()});
    for (const auto& part : body)
        if (part.iov_len > 0) parts_.push_back(part);
    if (const auto padding = sizes->total() - sizes->prefix - sizes->body; padding > 0)
        parts_.push_back({const_cast<char*>(kZeros.data()), padding});
    const auto sector = static_cast<std::uint32_t>(active_.end / kDiskSector);
    put_entry(
        footer_entry(record, sector, static_cast<std::uint32_t>(sizes->total() / kDiskSector)),
        active_.footer);
    ++active_.entries;
    active_.end += sizes->total();
    return {place_number(active_.segment->number()), sector};
}

boost::system::error_code SegmentLog::flush() {
    if (parts_.empty()) return {};
    const auto error = active_.segment->file.write(parts_, written_);
    parts_.clear();
    prefixes_.clear();
    if (error) {
        give_up_active();
        return error;
    }
    {
        const std::lock_guard lock(mutex_);
        stats_.written_bytes += active_.end - written_;
    }
    written_ = active_.end;
    return {};
}

/// Its records stay. The footer is missing, as the device refused.
void SegmentLog::give_up_active() {
    active_ = {};
    written_ = 0;
}

boost::system::error_code SegmentLog::seal() {
    if (const auto error = flush()) return error;
    if (!active_.segment) return {};
    close_footer(active_.footer);
    const auto error = seal_segment(*active_.segment, active_.footer, active_.entries, active_.end);
    const auto sealed = std::move(active_.segment);
    give_up_active();
    if (error) return error;
    if (!sync_) return sealed->file.sync();
    sync_(sealed);
    return {};
}

bool SegmentLog::next_exceeds_cap() const {
    const std::lock_guard lock(mutex_);
    return !oldest_.empty() && (stats_.bytes + stats_.segment_bytes > stats_.cap_bytes ||
                                oldest_.size() >= kMostSegments);
}

SegmentPtr SegmentLog::oldest() const {
    const std::lock_guard lock(mutex_);
    return oldest_.empty() ? nullptr : oldest_.front();
}

DiskResult<SegmentPtr> SegmentLog::create(Need need) {
    for (bool again = true;;) {
        // The numbers of present segments differ in the bits that a RecordLocation has.
        while (find(place_number(config_.next_segment))) ++config_.next_segment;
        auto made =
            create_segment(calls_, config_.directory,
                           {{config_.directory_id, config_.next_segment++}, stats().segment_bytes});
        if (made || !again || !is_full(made.error()) || !oldest()) return made;
        // Other programs use up the file system: remove a segment, and try once more.
        if (const auto error = retire(Readmit::no)) return error;
        again = need == Need::urgent;
    }
}

boost::system::error_code SegmentLog::roll(Need need) {
    if (const auto error = seal()) return error;
    while (next_exceeds_cap())
        if (const auto error = retire(Readmit::no)) return error;
    auto made = create(need);
    if (!made) return made.error();
    active_.segment = *made;
    active_.end = written_ = kDiskSector;
    {
        const std::lock_guard lock(mutex_);
        oldest_.push_back(active_.segment);
        by_number_.emplace(place_number(active_.segment->number()), active_.segment);
        stats_.bytes += active_.segment->header.bytes;
        stats_.segments = oldest_.size();
    }
    // Readmission goes from the oldest segment into the new one, so that the next roll has room.
    if (next_exceeds_cap() && oldest() != active_.segment)
        if (const auto error = retire(Readmit::yes)) return error;
    return active_.segment ? boost::system::error_code() : of_system(EIO);
}

/// Removes the oldest segment. After an error it stays, although its records were reported.
boost::system::error_code SegmentLog::retire(Readmit used) {
    const auto going = oldest();
    auto contents = read_contents(*going);
    if (contents) {
        auto& entries = contents->footer.entries;
        const auto again = used == Readmit::yes ? readmit(*going, entries) : 0;
        for (const auto& entry : entries)
            reclaim_hooks_.dropped(entry, {place_number(going->number()), entry.sector});
        const std::lock_guard lock(mutex_);
        stats_.readmitted_bytes += again;
    }
    if (!contents) reclaim_hooks_.failed(contents.error());
    if (!contents || contents->damaged) reclaim_hooks_.lost(place_number(going->number()));
    if (const auto error = remove_file(calls_, going->path)) return error;
    if (going == ended_before_) ended_before_.reset();
    {
        const std::lock_guard lock(mutex_);
        oldest_.pop_front();
        by_number_.erase(place_number(going->number()));
        stats_.bytes -= going->header.bytes;
        stats_.segments = oldest_.size();
        ++stats_.reclaimed;
    }
    read_still_.push_back(going);
    return {};
}

/// Writes the most used records again, takes them out of `entries`, and returns their bytes.
std::uint64_t SegmentLog::readmit(const Segment& from, Pages<FooterEntry>& entries) {
    struct Used {
        std::size_t at;
        unsigned uses;
    };
    std::vector<Used> used;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (is_tombstone(entries[i].type)) continue;
        const auto uses =
            reclaim_hooks_.uses(entries[i], {place_number(from.number()), entries[i].sector});
        if (uses && *uses > 0) used.push_back({i, *uses});
    }
    std::ranges::stable_sort(used, std::greater(), &Used::uses);
    struct MovedRecord {
        std::size_t at;
        RecordLocation to;
    };
    std::vector<MovedRecord> moved;
    std::uint64_t bytes = 0;
    const auto so_far = stats();
    const auto most = readmittable(std::min(from.header.bytes, active_.segment->header.bytes),
                                   so_far.written_bytes, so_far.readmitted_bytes);
    for (const auto& one : used) {
        const auto& entry = entries[one.at];
        const auto size = std::uint64_t{entry.sectors} * kDiskSector;
        if (bytes + size + active_.footer.size() + footer_bytes(entry) > most) continue;
        const auto loaded = load_record(from, entry.sector, entry.sectors);
        if (!loaded) reclaim_hooks_.failed(loaded.error());
        if (!loaded || loaded->record.uri != entry.uri) continue;
        const iovec body{const_cast<std::byte*>(loaded->body.data()), loaded->body.size()};
        const auto to = add(loaded->record, {&body, 1});
        if (flush()) break;  // the bytes end with `loaded`
        moved.push_back({one.at, to});
        bytes += size;
    }
    for (const auto& one : moved) {
        auto& entry = entries[one.at];
        reclaim_hooks_.moved(entry, {place_number(from.number()), entry.sector}, one.to);
        entry.sectors = 0;
    }
    std::erase_if(entries, [](const FooterEntry& entry) { return entry.sectors == 0; });
    return bytes;
}

void SegmentLog::set_cap(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    stats_.segment_bytes =
        config_.segment_bytes > 0 ? config_.segment_bytes : segment_bytes_for(bytes);
    stats_.cap_bytes = std::max(bytes, kLeastSegments * stats_.segment_bytes);
}

void SegmentLog::end_older() {
    ended_before_ = active_.segment;
}

DiskResult<SegmentLog::GaveBack> SegmentLog::give_back() {
    // No reader can begin with these.
    std::erase_if(read_still_, [](const SegmentPtr& gone) { return gone.use_count() == 1; });
    const auto first = oldest();
    if (!first || first == active_.segment) return GaveBack::nothing;
    if (ended_before_ == first) ended_before_.reset();
    const bool ended = ended_before_ != nullptr;
    const bool too_much = [&] {
        const std::lock_guard lock(mutex_);
        return stats_.bytes > stats_.cap_bytes;
    }();
    if (!ended && !too_much) return GaveBack::nothing;
    if (const auto error = retire(Readmit::no)) return error;
    return GaveBack::a_segment;
}

void SegmentLog::reset(std::uint64_t directory_id) {
    give_up_active();
    parts_.clear();
    prefixes_.clear();
    ended_before_.reset();
    config_.directory_id = directory_id;
    const std::lock_guard lock(mutex_);
    read_still_.insert(read_still_.end(), oldest_.begin(), oldest_.end());
    oldest_.clear();
    by_number_.clear();
    stats_.segments = stats_.bytes = 0;
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
