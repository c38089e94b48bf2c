#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// The least room for which a size of segments follows; a smaller cap counts as this.
inline constexpr std::uint64_t kLeastDiskCap = 4ull << 20;
/// How large segments are under a cap: 512 of them, within 32 and 256 MiB; under a small one, four.
constexpr std::uint64_t segment_bytes_for(std::uint64_t cap_bytes) {
    const auto cap = std::max(cap_bytes, kLeastDiskCap);
    const auto bytes = std::clamp(cap / 512, std::uint64_t{32} << 20, kMaxSegmentBytes);
    return std::min(bytes, cap / 4) / kDiskSector * kDiskSector;
}
/// The largest body that a record there may have, if its head is of a usual size: of a quarter of
/// a segment, all but 1 MiB, or half of it if that is more.
constexpr std::uint64_t body_max_for(std::uint64_t cap_bytes) {
    const auto most = segment_bytes_for(cap_bytes) / 4;
    return most - std::min(most / 2, std::uint64_t{1} << 20);
}
/// How much of a segment that goes may be written again: a quarter of it, and no more than makes
/// what was `readmitted` a sixth of all that was `written`. So bursts may take what was not needed
/// before, and in the long run 6/5 is written of what was admitted.
std::uint64_t readmittable(std::uint64_t segment_bytes, std::uint64_t written,
                           std::uint64_t readmitted);

/// What the log asks and tells while it gives room back; called on the writer's thread.
struct Reclaiming {
    /// How often the record there was used; none when nothing points at it any more.
    std::function<std::optional<unsigned>(const FooterEntry&, DiskPlace)> uses;
    /// It was written again, and may be read at both places until the next call to the log.
    std::function<void(const FooterEntry&, DiskPlace from, DiskPlace to)> moved;
    /// It goes. Tombstones, too.
    std::function<void(const FooterEntry&, DiskPlace)> dropped;
    /// All of this segment goes, by its number in a DiskPlace, and not all that it held could be
    /// told of: its bytes are spoilt, or cannot be read.
    std::function<void(std::uint32_t)> lost;
    /// Why something in what goes could not be read.
    std::function<void(const boost::system::error_code&)> failed;
};

/// Lets the device take what was sealed, by and by.
using SyncLater = std::function<void(SegmentPtr)>;

/// The segments of one directory as one log: records are added at its end, whole segments go at
/// its beginning, and the files never take more than the cap (those that somebody still reads
/// apart). What was used lately is written again when its segment goes, as far as readmittable()
/// has it. One thread, the writer's; find(), stats() and set_cap() from any.
class SegmentLog {
public:
    /// In a cap, which is raised for them: one to write to, one to give back, one between.
    static constexpr std::uint64_t kLeastSegments = 3;
    struct Config {
        std::filesystem::path directory;
        std::uint64_t directory_id = 0;
        std::uint64_t cap_bytes = 0;
        /// Of those that it makes: whole sectors, at most kMaxSegmentBytes. 0: segment_bytes_for()
        /// the cap, whatever that becomes.
        std::uint64_t segment_bytes = 0;
        std::uint32_t next_segment = 1;
    };
    /// Without `sync` the device is waited for.
    SegmentLog(DiskCalls& calls, Config config, Reclaiming reclaiming, SyncLater sync = {});

    /// Puts one before all that there are; it is read and given back. False when its number cannot
    /// be told from that of another in kNumberBits.
    bool adopt(SegmentPtr older);
    /// Goes on with the newest of those that were adopted, so that ends of processes cost no room.
    /// Before anything is added. One of another size than new ones get is left as it is.
    boost::system::error_code go_on(SegmentEnd end);

    /// Whether the segment that is being written has room for it.
    bool has_room(const RecordSizes& sizes, std::uint64_t footer_bytes) const;
    /// How much may be given up for it when the file system is full: nothing but the oldest, or
    /// one after the other.
    enum class Need { ordinary, urgent };
    /// Makes sure that add() has room for a record of these sizes, in a new segment if need be;
    /// that flushes, and may give room back. Errors: too_large, those of the system.
    boost::system::error_code make_room(const RecordSizes& sizes, std::uint64_t footer_bytes,
                                        Need need = Need::ordinary);
    /// Puts a record to those that the next flush() writes, and says where it will be. The body's
    /// bytes must stay until then. Precondition: make_room() for it, with nothing between.
    DiskPlace add(const Record& record, std::span<const iovec> body);
    /// Writes what was added. After an error none of it counts (a restart may find some of it all
    /// the same, but for what was purged), and what comes next goes to a new segment.
    boost::system::error_code flush();
    /// Ends the segment that is being written, with its footer.
    boost::system::error_code seal();

    /// Takes effect with give_back(), or with the next segment. Any thread.
    void set_cap(std::uint64_t bytes);
    /// From now on all segments before the one that is being written are to go.
    void end_older();
    /// Gives one segment back if the cap or end_older() asks for it; closes what nobody reads any
    /// more.
    enum class GaveBack { nothing, a_segment };
    DiskResult<GaveBack> give_back();

    /// Forgets all segments; their files are the caller's, and those to come are of this directory
    /// number.
    void reset(std::uint64_t directory_id);

    /// By the number in a DiskPlace; null when it is gone.
    SegmentPtr find(std::uint32_t number) const;
    struct Stats {
        std::uint64_t segments = 0;
        std::uint64_t bytes = 0;             // of all files
        std::uint64_t cap_bytes = 0;         // that they may take
        std::uint64_t segment_bytes = 0;     // of the next one
        std::uint64_t written_bytes = 0;     // since this object was made, all told
        std::uint64_t readmitted_bytes = 0;  // of these, what was written again
        std::uint64_t reclaimed = 0;         // segments
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
    Reclaiming reclaiming_;
    SyncLater sync_;

    SegmentPtr active_;
    FooterBytes footer_;              // of active_, not closed
    std::uint32_t entries_ = 0;       // in it
    std::uint64_t end_ = 0;           // where the next record goes
    std::uint64_t written_ = 0;       // to here flush() has come
    std::deque<DiskBytes> prefixes_;  // of what was added since
    std::vector<iovec> parts_;
    SegmentPtr ended_before_;  // by end_older(); null: none
    // Given back while somebody read it: to close the last of a file frees its room, which takes
    // long, and who reads must not wait for that.
    std::vector<SegmentPtr> read_still_;

    mutable std::mutex mutex_;       // for what follows
    std::deque<SegmentPtr> oldest_;  // all, with the active one at the end
    std::unordered_map<std::uint32_t, SegmentPtr> by_number_;
    Stats stats_;
};

}  // namespace proxy
