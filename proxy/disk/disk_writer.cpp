#include "proxy/disk/disk_writer.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace proxy {
namespace {

bool ends_nothing(const Record& record) {
    return record.type == RecordType::gone && record.tags.empty();
}

void notify(const DiskWriter::Job& job, DiskResult<RecordLocation> place) {
    if (job.done) job.done(place);
}

/// Joins successive tombstones, of which a busy disk may gather many, as all are accepted. False if
/// `job` must wait by itself.
template <class Waiting>
bool joins(Waiting& last, DiskWriter::Job& job) {
    auto& record = last.job.record;
    if (job.record.type == RecordType::all_gone && record.type == RecordType::all_gone &&
        !job.done) {
        record.seq = job.record.seq;
        return true;
    }
    if (job.record.type != RecordType::gone || job.record.tags.empty() ||
        record.type != RecordType::gone || record.tags.empty() ||
        record.tags.size() + job.record.tags.size() > kTombstoneHashes)
        return false;
    record.tags.insert(record.tags.end(), job.record.tags.begin(), job.record.tags.end());
    record.seq = job.record.seq;
    if (job.done)
        last.job.done = [first = std::move(last.job.done),
                         then = std::move(job.done)](const DiskResult<RecordLocation>& place) {
            if (first) first(place);
            then(place);
        };
    return true;
}

}  // namespace

bool DiskWriter::push(Job job) {
    const auto sizes = sizes_of(job.record);
    const auto bytes = sizes ? sizes->total() : 0;
    {
        const std::lock_guard lock(mutex_);
        // A job that is larger than the queue is accepted if it is alone.
        const auto full =
            stats_.queued_bytes > 0 && stats_.queued_bytes + bytes > config_.queue_bytes;
        const bool paused = Clock::now() < paused_until_;
        if ((!sizes || paused || full) && !is_tombstone(job.record.type)) {
            ++(!sizes   ? stats_.refused_too_large
               : paused ? stats_.refused_paused
                        : stats_.refused_queue_full);
            return false;
        }
        const std::uint64_t ends = is_tombstone(job.record.type) ? 1 : 0;
        stats_.ends_waiting += ends;
        if (!queue_.empty() && joins(queue_.back(), job)) {
            const auto all = sizes_of(queue_.back().job.record)->total();
            stats_.queued_bytes += all - std::exchange(queue_.back().bytes, all);
            queue_.back().ends += ends;
            return true;
        }
        stats_.queued_bytes += bytes;
        queue_.push_back({std::move(job), bytes, ends});
    }
    changed_.notify_one();
    return true;
}

void DiskWriter::wait(Clock::duration at_most) {
    std::unique_lock lock(mutex_);
    const auto until = Clock::now() + at_most;
    while (!interrupted_) {
        const auto now = Clock::now();
        if (now >= until || (!queue_.empty() && now >= not_before_)) break;
        changed_.wait_until(lock, queue_.empty() ? until : std::min(until, not_before_));
    }
    interrupted_ = false;
}

void DiskWriter::interrupt() {
    {
        const std::lock_guard lock(mutex_);
        interrupted_ = true;
    }
    changed_.notify_one();
}

DiskWriter::Batch DiskWriter::next_batch(boost::system::error_code& paused_by) {
    Batch batch;
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (now < not_before_) return batch;
    if (now < paused_until_) paused_by = paused_by_;
    std::uint64_t bytes = 0;
    while (!queue_.empty() && (batch.empty() || bytes < config_.gathered_bytes)) {
        bytes += queue_.front().bytes;
        batch.push_back(std::move(queue_.front()));
        queue_.pop_front();
        if (batch.back().job.record.type == RecordType::all_gone) break;  // a segment begins
    }
    return batch;
}

/// The results of write() so far, while it goes through a batch.
struct DiskWriter::Outcome {
    struct WrittenRecord {
        Waiting* waiting;
        RecordLocation place;
    };
    DiskWriter& writer;
    std::vector<WrittenRecord> added{};
    Batch again{};  // unwritten tombstones, and the jobs that depend on them
    boost::system::error_code error{};
    bool all_ended = false;

    void fail(Waiting& waiting, const boost::system::error_code& why, bool nothing_left) {
        if (why != DiskError::too_large) {
            error = why;
            writer.pause(why);  // before any notification
        }
        if (is_tombstone(waiting.job.record.type) && why != DiskError::too_large) {
            if (!nothing_left) return again.push_back(std::move(waiting));
            writer.count({{.queued_bytes = waiting.bytes}, waiting.ends});
            return notify(waiting.job, RecordLocation{});
        }
        Stats done{{.queued_bytes = waiting.bytes}, waiting.ends};
        ++(why == DiskError::too_large ? done.refused_too_large : done.failed);
        writer.count(done);
        notify(waiting.job, why);
    }
    /// Makes room for one more record. The added records are written before a new segment begins.
    boost::system::error_code make_room(SegmentLog& log, const Judge& judge, const Record& record) {
        const auto sizes = sizes_of(record);
        if (!sizes) return sizes.error();
        const auto footer = footer_bytes(record);
        const bool begins = record.type == RecordType::all_gone;
        if (!begins && log.has_room(*sizes, footer)) return {};
        flush(log, judge);  // as a new segment begins with a flush of its own
        if (begins)
            if (const auto why = log.seal()) return why;
        return log.make_room(
            *sizes, footer,
            is_tombstone(record.type) ? SegmentLog::Need::urgent : SegmentLog::Need::ordinary);
    }
    void flush(SegmentLog& log, const Judge& judge) {
        if (added.empty()) return;
        const auto flushed = std::exchange(added, {});
        if (const auto why = log.flush()) {
            writer.count({{}, 0, 1});
            for (const auto& one : flushed) fail(*one.waiting, why, log.stats().segments == 0);
            return;
        }
        Stats done{{}, 0, 1};
        for (const auto& one : flushed) {
            done.queued_bytes += one.waiting->bytes;
            done.ends_waiting += one.waiting->ends;
            done.written += is_tombstone(one.waiting->job.record.type) ? 0 : 1;
        }
        writer.count(done);
        for (const auto& one : flushed) {
            const auto& job = one.waiting->job;
            all_ended = all_ended || job.record.type == RecordType::all_gone;
            notify(job, judge ? judge(job, one.place) : DiskResult<RecordLocation>(one.place));
        }
    }
};

boost::system::error_code DiskWriter::write(SegmentLog& log) {
    boost::system::error_code paused_by;
    auto batch = next_batch(paused_by);
    if (batch.empty()) return {};
    Outcome outcome{*this};
    for (auto& waiting : batch) {
        const auto& record = waiting.job.record;
        if (ends_nothing(record)) {
            outcome.flush(log, judge_);
            if (!outcome.again.empty()) {  // those come first
                outcome.again.push_back(std::move(waiting));
                continue;
            }
            count({{.queued_bytes = waiting.bytes}, waiting.ends});
            notify(waiting.job, RecordLocation{});
            continue;
        }
        if (const auto& why = outcome.error ? outcome.error : paused_by;
            why && !is_tombstone(record.type)) {  // each try might cost another segment
            count({{.queued_bytes = waiting.bytes, .failed = 1}});
            notify(waiting.job, why);
            continue;
        }
        if (const auto error = outcome.make_room(log, judge_, record))
            outcome.fail(waiting, error, log.stats().segments == 0);
        else
            outcome.added.push_back({&waiting, log.add(record, waiting.job.body)});
    }
    outcome.flush(log, judge_);
    if (outcome.all_ended) log.end_older();
    if (!outcome.again.empty()) keep(std::move(outcome.again));
    return outcome.error;
}

void DiskWriter::refuse_off() {
    const std::lock_guard lock(mutex_);
    ++stats_.refused_off;
}

/// Counts finished jobs, before the notification, as the receiver may ask for the counts.
void DiskWriter::count(const Stats& done) {
    const std::lock_guard lock(mutex_);
    stats_.queued_bytes -= done.queued_bytes;
    stats_.ends_waiting -= done.ends_waiting;
    stats_.written += done.written;
    stats_.failed += done.failed;
    stats_.refused_too_large += done.refused_too_large;
    stats_.writes += done.writes;
}

void DiskWriter::pause(const boost::system::error_code& error) {
    const std::lock_guard lock(mutex_);
    paused_until_ = Clock::now() + config_.pause;
    paused_by_ = error;
}

void DiskWriter::keep(Batch failed) {
    const std::lock_guard lock(mutex_);
    for (auto& one : failed | std::views::reverse) queue_.push_front(std::move(one));
    not_before_ = Clock::now() + config_.retry;
}

void DiskWriter::retry_now() {
    const std::lock_guard lock(mutex_);
    not_before_ = {};
}

void DiskWriter::fail_all(const boost::system::error_code& error) {
    std::deque<Waiting> left;
    {
        const std::lock_guard lock(mutex_);
        left.swap(queue_);
        not_before_ = {};
    }
    for (const auto& one : left) {
        const bool ends = is_tombstone(one.job.record.type);
        count({{.queued_bytes = one.bytes, .failed = ends ? 0u : 1u}, one.ends});
        notify(one.job, ends ? DiskResult<RecordLocation>(RecordLocation{})
                             : DiskResult<RecordLocation>(error));
    }
}

bool DiskWriter::empty() const {
    const std::lock_guard lock(mutex_);
    return queue_.empty();
}

DiskWriter::Stats DiskWriter::stats() const {
    const std::lock_guard lock(mutex_);
    auto stats = stats_;
    stats.paused = Clock::now() < paused_until_;
    return stats;
}

}  // namespace proxy
