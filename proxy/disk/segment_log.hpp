#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "proxy/disk/disk_status.hpp"
#include "proxy/disk/segment.hpp"

namespace proxy {

/// The smallest cap with a segment size of its own. A smaller cap counts as this.
inline constexpr std::uint64_t kLeastDiskCap = 4ull << 20;
/// The size of segments under a cap: 1/512 of it, within 32 and 256 MiB, and at most a quarter of a
/// small cap.
constexpr std::uint64_t segment_bytes_for(std::uint64_t cap_bytes) {
    const auto cap = std::max(cap_bytes, kLeastDiskCap);
    const auto bytes = std::clamp(cap / 512, std::uint64_t{32} << 20, kMaxSegmentBytes);
    return std::min(bytes, cap / 4) / kDiskSector * kDiskSector;
}
/// The largest body of a record under a cap, if its head has a usual size: a quarter of a segment
/// less 1 MiB, or half of that quarter if this is more.
constexpr std::uint64_t body_max_for(std::uint64_t cap_bytes) {
    const auto most = segment_bytes_for(cap_bytes) / 4;
    return most - std::min(most / 2, std::uint64_t{1} << 20);
}
/// The bytes of a reclaimed segment that may be written again: at most a quarter of it, and as many
/// as keep `readmitted` within a sixth of all that was `written`. Bursts may use an earlier
/// surplus. In the long run, 6/5 is written of each admitted byte.
std::uint64_t readmittable(std::uint64_t segment_bytes, std::uint64_t written,
                           std::uint64_t readmitted);

/// The questions and reports of the log during reclamation. Called on the thread of the writer.
struct ReclaimHooks {
    /// The use count of the record; none if the index lacks it.
    std::function<std::optional<unsigned>(const FooterEntry&, RecordLocation)> uses;
    /// The record was written again. Both places can be read until the next call to the log.
    std::function<void(const FooterEntry&, RecordLocation from, RecordLocation to)> moved;
    /// The record or the tombstone is gone.
    std::function<void(const FooterEntry&, RecordLocation)> dropped;
    /// The segment with this number in a RecordLocation goes, and some of its records are unknown,
    /// because its bytes are spoilt or unreadable.
    std::function<void(std::uint32_t)> lost;
    /// The error of a record of a reclaimed segment that is unreadable.
    std::function<void(const boost::system::error_code&)> failed;
};

/// Writes a sealed segment through to the device later.
using SyncLater = std::function<void(SegmentPtr)>;

/// The segments of one directory as one log: records are added at its end, and whole segments are
/// removed at its start. The files stay within the cap, apart from removed ones that still have
/// readers. Records that were used lately are written again when their segment goes, as far as
/// readmittable() allows. The writer's thread only; find(), stats() and set_cap() from any thread.
class SegmentLog {
public:
    /// The cap is raised to this many segments: one to write to, one to remove, one between.
    static constexpr std::uint64_t kLeastSegments = 3;
    struct Config {
        std::filesystem::path directory;
        std::uint64_t directory_id = 0;
        std::uint64_t cap_bytes = 0;
        /// The size of new segments: whole sectors, at most kMaxSegmentBytes. 0 stands for
        /// segment_bytes_for() the present cap.
        std::uint64_t segment_bytes = 0;
        std::uint32_t next_segment = 1;
    };
    /// Without `sync`, sealing waits for the device.
    SegmentLog(DiskCalls& calls, Config config, ReclaimHooks reclaim_hooks, SyncLater sync = {});

    /// Adds a recovered segment before all others. False if its number equals that of another one
    /// in kNumberBits.
    bool adopt(SegmentPtr older);
    /// Continues the newest adopted segment, so that restarts save room. To be called before the
    /// first add(). A segment that has another size than new ones stays as it is.
    boost::system::error_code go_on(SegmentEnd end);

    /// The present segment has room for the record.
    bool has_room(const RecordSizes& sizes, std::uint64_t footer_bytes) const;
    /// The segments to remove for a record if the file system is full: only the oldest, or one
    /// after the other.
    enum class Need { ordinary, urgent };
    /// Makes room for add(), in a new segment if necessary. It may flush and may remove segments.
    /// Errors: too_large, those of the system.
    boost::system::error_code make_room(const RecordSizes& sizes, std::uint64_t footer_bytes,
                                        Need need = Need::ordinary);
    /// Adds a record to the next flush() and returns its place. The body must stay valid until
    /// then. Precondition: make_room() for this record was the call before.
    RecordLocation add(const Record& record, std::span<const iovec> body);
    /// Writes the added records. After an error all of them are void, and the next record goes to a
    /// new segment. A restart may find some of them, unless they were purged.
    boost::system::error_code flush();
    /// Seals the present segment.
    boost::system::error_code seal();

    /// Takes effect with give_back(), or with the next segment. Any thread.
    void set_cap(std::uint64_t bytes);
    /// Marks all segments before the present one for removal.
    void end_older();
    /// Removes one segment if the cap or end_older() requires it, and closes removed segments that
    /// have lost their last reader.
    enum class GaveBack { nothing, a_segment };
    DiskResult<GaveBack> give_back();

    /// Forgets all segments. Their files are left to the caller, and new ones get this directory
    /// number.
    void reset(std::uint64_t directory_id);

    /// The segment with this number in a RecordLocation, or null.
    SegmentPtr find(std::uint32_t number) const;
    struct Stats : DiskLogCounters {
        std::uint64_t segment_bytes = 0;  // of the next one
    };
    Stats stats() const;

private:
    std::uint64_t room_for(const RecordSizes& sizes, std::uint64_t footer_bytes) const;
    boost::system::error_code roll(Need need);
    DiskResult<SegmentPtr> create(Need need);
    bool next_exceeds_cap() const;
    SegmentPtr oldest() const;
    enum class Readmit : bool { no, yes };
    boost::system::error_code retire(Readmit used);
    std::uint64_t readmit(const Segment& from, Pages<FooterEntry>& live);
    void give_up_active();

    DiskCalls& calls_;
    Config config_;
    ReclaimHooks reclaim_hooks_;
    SyncLater sync_;

    SegmentEnd active_;               // the next record goes there
    std::uint64_t written_ = 0;       // the progress of flush() towards its end
    std::deque<DiskBytes> prefixes_;  // of the records added since
    std::vector<iovec> parts_;
    SegmentPtr ended_before_;  // by end_older(), or null
    // Removed segments that still had readers. The last close of a file frees its room, which takes
    // long, so the log closes them instead of a reader.
    std::vector<SegmentPtr> read_still_;

    mutable std::mutex mutex_;       // for the members below
    std::deque<SegmentPtr> oldest_;  // all, the active one last
    std::unordered_map<std::uint32_t, SegmentPtr> by_number_;
    Stats stats_;
};

}  // namespace proxy
