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

/// The queue of one directory, and the writing of it, in order. A record that exceeds the queue is
/// refused and counted, so callers never wait. Only the thread of the directory calls write(),
/// retry_now(), fail_all() and wait(); any thread may call the rest.
class DiskWriter {
public:
    using Clock = std::chrono::steady_clock;
    struct Config {
        std::uint64_t queue_bytes = 32ull << 20;    // bodies and heads in the queue
        std::uint64_t gathered_bytes = 1ull << 20;  // for one write
        std::chrono::milliseconds pause{10'000};    // after an error of the disk
        std::chrono::milliseconds retry{200};       // of tombstones, likewise
    };
    /// The place of the record, which survives a kill of the process. A loss of power may take it
    /// until the device has the segment. write() calls it once for each accepted job, after stats()
    /// has counted the job. The record may have been purged meanwhile, and then it must stay out of
    /// the index.
    using WriteHandler = std::function<void(DiskResult<RecordLocation>)>;

    /// A record; `owner` keeps its texts and its body alive. A tombstone that lacks hashes is a
    /// marker: it is done when all jobs before it are.
    struct Job {
        Record record;
        summary::KeyHash key{};
        std::vector<iovec> body;
        std::shared_ptr<const void> owner;
        WriteHandler done;
    };

    /// May replace the result of a written record. Empty: the result is its place.
    using Judge = std::function<DiskResult<RecordLocation>(const Job&, RecordLocation)>;

    explicit DiskWriter(Config config, Judge judge = {})
        : config_(config), judge_(std::move(judge)) {}

    /// False if the job was refused, because the queue is full or the disk had an error less than a
    /// pause ago. Tombstones are always accepted; their sender observes Stats::ends_waiting. An
    /// all_gone joins one right before it that has no `done`.
    bool push(Job job);

    /// Counts a record that the caller refuses, as the directory is off.
    void refuse_off();

    /// Waits for a job, for interrupt(), or until `at_most` has passed.
    void wait(Clock::duration at_most);
    void interrupt();

    /// Writes one batch of the queue, if writing is permitted now. A tombstone that fails stays at
    /// the front of the queue until Config::retry has passed. It is done when it is written, or
    /// when all records that it could end are gone. Returns an error of the disk.
    boost::system::error_code write(SegmentLog& log);
    /// Cuts the wait of Config::retry short.
    void retry_now();
    /// Fails all queued records. For tombstones that counts as success, because the records that
    /// they end are lost too.
    void fail_all(const boost::system::error_code& error);
    bool empty() const;

    struct Stats : DiskWriterCounters {
        std::uint64_t ends_waiting = 0;  // tombstones; joined ones count each
        std::uint64_t writes = 0;        // calls to the system
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
    Clock::time_point not_before_{};  // next try of tombstones
    Stats stats_;
};

}  // namespace proxy
