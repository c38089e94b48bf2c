#pragma once

#include <deque>
#include <vector>

#include "measure/tiers/simulated_disk.hpp"
#include "proxy/disk/disk_index.hpp"

namespace measure {

/// The node's disk: new records go to the end of a log of segments, and the oldest segment goes to
/// make room. Its records used since they were written are written again, the most used first, as
/// far as proxy::readmittable() allows, and start as unused.
/// A node's segments are a 512th of the disk, within 32 and 256 MiB. The caches of logs are small
/// beside that, so segments here are a 64th of the disk to fit several objects. A segment ends
/// behind the record that fills it; records are never split.
class SegmentedDisk final : public SimulatedDisk {
public:
    static constexpr std::uint64_t kSegments = 64;

    /// `record_bytes` (of each object) must outlive it. Without `write_again` the records of the
    /// oldest segment are lost.
    SegmentedDisk(std::uint64_t capacity, const std::vector<std::uint64_t>& record_bytes,
                  bool write_again);

    bool has(std::uint32_t object) const override { return entries_[object].segment != 0; }
    void use(std::uint32_t object) override {
        auto& uses = entries_[object].uses;
        if (uses < proxy::DiskEntry::kMostUses) ++uses;
    }
    void write(std::uint32_t object) override;
    std::uint64_t used_bytes() const override { return used_bytes_; }
    std::uint64_t objects() const override { return objects_; }
    std::uint64_t written_again_bytes() const override { return written_again_bytes_; }

private:
    struct Entry {
        std::uint32_t segment = 0;  // 0: not on the disk
        std::uint8_t uses = 0;
    };
    struct Segment {
        std::uint32_t number = 0;
        std::uint64_t bytes = 0;
        std::vector<std::uint32_t> objects;
    };

    void append(std::uint32_t object);
    void retire_oldest();

    const std::uint64_t capacity_;
    const std::vector<std::uint64_t>& record_bytes_;
    const bool write_again_;
    std::vector<Entry> entries_;    // of each object
    std::deque<Segment> segments_;  // the oldest first; the last one is being written
    std::uint32_t next_number_ = 1;
    std::uint64_t used_bytes_ = 0;
    std::uint64_t objects_ = 0;
    std::uint64_t admitted_bytes_ = 0;
    std::uint64_t written_again_bytes_ = 0;
};

}  // namespace measure
