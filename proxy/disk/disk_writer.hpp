#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proxy/disk/segment_log.hpp"

namespace proxy {

/// What is to be written to one directory, in the order in which it was asked for. What does not
/// fit into the queue is refused and counted: nobody waits for a disk. One thread at a time, the
/// directory's, calls write(), retry_now(), fail_all() and wait(); all else is for any.
class DiskWriter {
public:
    using Clock = std::chrono::steady_clock;
    struct Config {
        std::uint64_t queue_bytes = 32ull << 20;    // of bodies and heads that wait
        std::uint64_t gathered_bytes = 1ull << 20;  // for one write, if so much waits
        std::chrono::milliseconds pause{10'000};    // after an error of the disk
        std::chrono::milliseconds retry{200};       // of tombstones after an error of the disk
    };
    /// Where the record is now, which no kill of the process undoes (a loss of power may, until the
    /// device has taken its segment); called by write(), once for each job that was taken, when
    /// stats() have it. It may have been purged meanwhile: then it must not get into the index.
    using Done = std::function<void(DiskResult<DiskPlace>)>;

    /// A record whose texts and body `owner` keeps. A tombstone without hashes is none: it is done
    /// when all before it is.
    struct Job {
        Record record;
        summary::KeyHash key{};
        std::vector<iovec> body;
        std::shared_ptr<const void> owner;
        Done done;
    };

    /// What is told of a record that was written; empty: where it is.
    using Judge = std::function<DiskResult<DiskPlace>(const Job&, DiskPlace)>;

    explicit DiskWriter(Config config, Judge judge = {})
        : config_(config), judge_(std::move(judge)) {}

    /// False when it was refused: the queue is full, or the disk had an error less than a pause
    /// ago. Tombstones are never refused: whoever pushes them minds Stats::ends_waiting. One for
    /// all that is there joins such a one right before it, if nobody waits for it.
    bool push(Job job);

    /// Until something is there to be written, or interrupt() was called, or `at_most` has passed.
    void wait(Clock::duration at_most);
    void interrupt();

    /// Writes one batch of what waits, if anything may be written now. Tombstones that fail stay
    /// at the front of the queue and are tried again after Config::retry: they are done when they
    /// are written, or when nothing is left that they could end. Gives the error of the disk, if
    /// there was one.
    boost::system::error_code write(SegmentLog& log);
    /// Does not wait for Config::retry any more.
    void retry_now();
    /// Nothing of what waits is written; to tombstones that is the same as if they were.
    void fail_all(const boost::system::error_code& error);
    bool empty() const;

    struct Stats {
        std::uint64_t queued_bytes = 0;
        std::uint64_t ends_waiting = 0;  // tombstones, however many have become one, and none
        std::uint64_t written = 0, failed = 0;  // without tombstones
        std::uint64_t refused_queue_full = 0, refused_paused = 0, refused_too_large = 0;
        std::uint64_t writes = 0;  // calls that wrote them
        bool paused = false;
    };
    Stats stats() const;

private:
    struct Waiting {
        Job job;
        std::uint64_t bytes = 0;
        std::uint64_t ends = 0;
    };
    using Batch = std::vector<Waiting>;
    struct Outcome;
    Batch next_batch(boost::system::error_code& paused_by);
    void count(const Stats& done);
    void pause(const boost::system::error_code& error);
    void keep(Batch failed);

    const Config config_;
    const Judge judge_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Waiting> queue_;
    bool interrupted_ = false;
    Clock::time_point paused_until_{};
    boost::system::error_code paused_by_;
    Clock::time_point not_before_{};  // tombstones are to be tried again then
    Stats stats_;
};

}  // namespace proxy
