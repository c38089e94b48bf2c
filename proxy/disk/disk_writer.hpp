#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "proxy/disk/segment_log.hpp"

namespace proxy {

/// Writes to one directory, on a thread of its own, in the order in which it was asked to. What
/// does not fit into the queue is refused and counted: nobody waits for a disk.
class DiskWriter {
public:
    using Clock = std::chrono::steady_clock;
    struct Config {
        std::uint64_t queue_bytes = 32ull << 20;    // of bodies and heads that wait
        std::uint64_t gathered_bytes = 1ull << 20;  // for one write, if so much waits
        std::chrono::milliseconds pause{10'000};    // after an error of the disk
    };
    /// Where the record is now, which no kill of the process undoes (a loss of power may, until its
    /// segment is sealed); called on the writer's thread, once for each record that was taken. It
    /// may have been purged meanwhile: then it must not get into the index, as what the index has
    /// is written again when its segment goes, behind the tombstone.
    using Done = std::function<void(DiskResult<DiskPlace>)>;

    /// A record whose texts and body `owner` keeps.
    struct Job {
        Record record;  // its seq is set by push()
        std::vector<iovec> body;
        std::shared_ptr<const void> owner;
        Done done;
    };

    /// `seq`: for the next record; shared by all directories of a process. The log must outlive
    /// this and belongs to its thread meanwhile.
    DiskWriter(SegmentLog& log, std::atomic<std::uint64_t>& seq, Config config);
    /// Writes what waits, seals, and ends the thread.
    ~DiskWriter();
    DiskWriter(const DiskWriter&) = delete;
    DiskWriter& operator=(const DiskWriter&) = delete;

    /// Any thread. False when it was refused: the queue is full, or the disk had an error less than
    /// a pause ago. Tombstones are never refused. Records count in the order of these calls, so
    /// what must not come back is to be called for after what it ends.
    bool push(Job job);

    struct Stats {
        std::uint64_t queued_bytes = 0;
        std::uint64_t written = 0, refused = 0, failed = 0;  // records
        std::uint64_t writes = 0;                            // calls that wrote them
        bool paused = false;
    };
    Stats stats() const;

private:
    struct Waiting {
        Job job;
        std::uint64_t bytes = 0;
    };
    void run();
    void write(std::vector<Waiting>& batch);
    void pause();

    SegmentLog& log_;
    std::atomic<std::uint64_t>& seq_;
    const Config config_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Waiting> queue_;
    bool ending_ = false;
    Clock::time_point paused_until_{};
    Stats stats_;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace proxy
