#include "measure/tiers/segmented_disk.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "proxy/disk/segment_log.hpp"

namespace measure {

SegmentedDisk::SegmentedDisk(std::uint64_t capacity, const std::vector<std::uint64_t>& record_bytes,
                             bool write_again)
    : capacity_(capacity),
      record_bytes_(record_bytes),
      write_again_(write_again),
      entries_(record_bytes.size()) {}

void SegmentedDisk::append(std::uint32_t object) {
    if (segments_.empty() || segments_.back().bytes * kSegments >= capacity_)
        segments_.push_back({next_number_++, 0, {}});
    auto& segment = segments_.back();
    segment.objects.push_back(object);
    segment.bytes += record_bytes_[object];
    used_bytes_ += record_bytes_[object];
    entries_[object] = {segment.number, 0};
}

void SegmentedDisk::write(std::uint32_t object) {
    while (used_bytes_ + record_bytes_[object] > capacity_) retire_oldest();
    append(object);
    admitted_bytes_ += record_bytes_[object];
    ++objects_;
}

void SegmentedDisk::retire_oldest() {
    const auto segment = std::move(segments_.front());
    segments_.pop_front();
    used_bytes_ -= segment.bytes;
    auto objects = segment.objects;
    std::ranges::stable_sort(objects, std::greater(),
                             [this](auto object) { return entries_[object].uses; });
    auto room = write_again_
                    ? proxy::readmittable(segment.bytes, admitted_bytes_ + written_again_bytes_,
                                          written_again_bytes_)
                    : 0;
    for (const auto object : objects) {
        const auto bytes = record_bytes_[object];
        if (entries_[object].uses > 0 && bytes <= room) {
            room -= bytes;
            written_again_bytes_ += bytes;
            append(object);
        } else {
            entries_[object] = {};
            --objects_;
        }
    }
}

}  // namespace measure
