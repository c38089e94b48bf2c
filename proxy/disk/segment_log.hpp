#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// How large segments are under a cap: 512 of them, within 16 and 256 MiB.
std::uint64_t segment_bytes_for(std::uint64_t cap_bytes);

/// What the log asks and tells while it gives room back; called on the writer's thread.
struct Reclaiming {
    /// How often the record there was used; none when nothing points at it any more.
    std::function<std::optional<unsigned>(const FooterEntry&, DiskPlace)> uses;
    /// It was written again, and may be read at both places until the next call to the log.
    std::function<void(const FooterEntry&, DiskPlace from, DiskPlace to)> moved;
    /// It goes.
    std::function<void(const FooterEntry&, DiskPlace)> dropped;
};

/// The segments of one directory as one log: records are added at its end, whole segments go at
/// its beginning, and the files never take more than the cap (those that somebody still reads
/// apart). What was used lately is written again when its segment goes, a quarter of a segment at
/// most. One thread, the writer's; find() and stats() from any.
class SegmentLog {
public:
    struct Config {
        std::filesystem::path directory;
        std::uint64_t directory_id = 0;
        std::uint64_t cap_bytes = 0;
        std::uint64_t segment_bytes = 0;  // whole sectors, at most 256 MiB; at least 3 in the cap
        std::uint32_t next_segment = 1;
    };
    /// `existing`: oldest first. They are read and given back, never added to.
    SegmentLog(DiskCalls& calls, Config config, std::vector<SegmentPtr> existing,
               Reclaiming reclaiming);

    /// Whether the segment that is being written has room for it.
    bool has_room(const RecordSizes& sizes, std::uint64_t footer_bytes) const;
    /// Makes sure that add() has room for a record of these sizes, in a new segment if need be;
    /// that flushes, and may give room back. Errors: too_large, those of the system.
    boost::system::error_code make_room(const RecordSizes& sizes, std::uint64_t footer_bytes);
    /// Puts a record to those that the next flush() writes, and says where it will be. The body's
    /// bytes must stay until then. Precondition: make_room() for it, with nothing between.
    DiskPlace add(const Record& record, std::span<const iovec> body);
    std::uint64_t added_bytes() const { return end_ - written_; }
    /// Writes what was added. After an error none of it counts (a restart may find some of it all
    /// the same, but for what was purged), and what comes next goes to a new segment.
    boost::system::error_code flush();
    /// Ends the segment that is being written, with its footer, and lets the device take all.
    boost::system::error_code seal();

    /// Gives segments back until the cap holds; for a cap that was lowered.
    void set_cap(std::uint64_t bytes);

    /// By the number in a DiskPlace; null when it is gone.
    SegmentPtr find(std::uint32_t number) const;
    struct Stats {
        std::uint64_t segments = 0;
        std::uint64_t bytes = 0;             // of all files
        std::uint64_t written_bytes = 0;     // since this object was made, all told
        std::uint64_t readmitted_bytes = 0;  // of these, what was written again
        std::uint64_t reclaimed = 0;         // segments
    };
    Stats stats() const;

private:
    std::uint64_t segments_in_cap() const { return config_.cap_bytes / config_.segment_bytes; }
    std::uint64_t room_for(const RecordSizes& sizes, std::uint64_t footer_bytes) const;
    boost::system::error_code roll();
    void retire(bool readmit);
    std::uint64_t readmit(const Segment& from, std::vector<FooterEntry>& live);
    void give_up_active();
    static std::uint32_t key_of(const Segment& segment);

    DiskCalls& calls_;
    Config config_;
    Reclaiming reclaiming_;

    SegmentPtr active_;
    std::vector<FooterEntry> entries_;  // of active_
    std::uint64_t footer_bytes_ = 0;    // for them
    std::uint64_t end_ = 0;             // where the next record goes
    std::uint64_t written_ = 0;         // to here flush() has come
    std::deque<DiskBytes> prefixes_;    // of what was added since
    std::vector<iovec> parts_;

    mutable std::mutex mutex_;       // for what follows
    std::deque<SegmentPtr> oldest_;  // all, with the active one at the end
    std::map<std::uint32_t, SegmentPtr> by_number_;
    Stats stats_;
};

}  // namespace proxy
