#include "proxy/disk/disk_writer.hpp"

#include <utility>

namespace proxy {

DiskWriter::DiskWriter(SegmentLog& log, std::atomic<std::uint64_t>& seq, Config config)
    : log_(log), seq_(seq), config_(config), thread_([this] { run(); }) {}

DiskWriter::~DiskWriter() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

bool DiskWriter::push(Job job) {
    const auto sizes = sizes_of(job.record);
    const auto bytes = sizes ? sizes->total() : 0;
    {
        const std::lock_guard lock(mutex_);
        const bool refused = !sizes || stats_.queued_bytes + bytes > config_.queue_bytes ||
                             Clock::now() < paused_until_;
        if (refused && !is_tombstone(job.record.type)) {
            ++stats_.refused;
            return false;
        }
        job.record.seq = seq_.fetch_add(1, std::memory_order_relaxed);
        stats_.queued_bytes += bytes;
        queue_.push_back({std::move(job), bytes});
    }
    changed_.notify_one();
    return true;
}

DiskWriter::Stats DiskWriter::stats() const {
    const std::lock_guard lock(mutex_);
    auto stats = stats_;
    stats.paused = Clock::now() < paused_until_;
    return stats;
}

void DiskWriter::run() {
    std::vector<Waiting> batch;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
            if (queue_.empty()) break;
            std::uint64_t bytes = 0;
            while (!queue_.empty() && (batch.empty() || bytes < config_.gathered_bytes)) {
                bytes += queue_.front().bytes;
                batch.push_back(std::move(queue_.front()));
                queue_.pop_front();
            }
        }
        write(batch);
        batch.clear();
    }
    log_.seal();
}

void DiskWriter::write(std::vector<Waiting>& batch) {
    struct Added {
        Waiting* waiting;
        DiskPlace place;
    };
    std::vector<Added> added;
    std::uint64_t written = 0, failed = 0, bytes = 0, writes = 0;
    const auto flush = [&] {
        if (added.empty()) return;
        const auto error = log_.flush();
        if (error) pause();
        (error ? failed : written) += added.size();
        ++writes;
        for (const auto& one : added) {
            if (!one.waiting->job.done) continue;
            one.waiting->job.done(error ? DiskResult<DiskPlace>(error)
                                        : DiskResult<DiskPlace>(one.place));
        }
        added.clear();
    };
    for (auto& waiting : batch) {
        const auto& record = waiting.job.record;
        bytes += waiting.bytes;
        const auto sizes = sizes_of(record);
        const auto footer = footer_bytes(record);
        boost::system::error_code error = sizes ? boost::system::error_code() : sizes.error();
        if (!error && !log_.has_room(*sizes, footer)) {
            flush();  // as a new segment begins with a flush of its own
            error = log_.make_room(*sizes, footer);
            if (error && error != DiskError::too_large) pause();
        }
        if (error) {
            ++failed;
            if (waiting.job.done) waiting.job.done(error);
            continue;
        }
        added.push_back({&waiting, log_.add(record, waiting.job.body)});
    }
    flush();
    const std::lock_guard lock(mutex_);
    stats_.queued_bytes -= bytes;
    stats_.written += written;
    stats_.failed += failed;
    stats_.writes += writes;
}

void DiskWriter::pause() {
    const std::lock_guard lock(mutex_);
    paused_until_ = Clock::now() + config_.pause;
}

}  // namespace proxy
