#include "proxy/disk/disk_threads.hpp"

#include <utility>

namespace proxy {

DiskThreads::DiskThreads(unsigned threads, std::size_t most) : most_(most) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

DiskThreads::~DiskThreads() {
    begin_end();
    for (auto& thread : threads_) thread.join();
}

void DiskThreads::begin_end() {
    std::deque<Waiting> left;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        left.swap(queue_);
    }
    changed_.notify_all();
    for (auto& waiting : left) waiting.job(true);
}

bool DiskThreads::try_run(Job job) {
    {
        const std::lock_guard lock(mutex_);
        if (ending_ || tries_ >= most_) {
            ++stats_.refused;
            return false;
        }
        queue_.push_back({std::move(job), true});
        ++tries_;
    }
    changed_.notify_one();
    return true;
}

void DiskThreads::run(Job job) {
    {
        const std::lock_guard lock(mutex_);
        if (!ending_) {
            queue_.push_back({std::move(job)});
            changed_.notify_one();
            return;
        }
    }
    job(true);
}

DiskThreads::Stats DiskThreads::stats() const {
    const std::lock_guard lock(mutex_);
    auto stats = stats_;
    stats.waiting = queue_.size();
    if (!begins_.empty()) stats.oldest = begins_.front();
    return stats;
}

void DiskThreads::work() {
    auto running = begins_.end();
    for (;;) {
        Job job;
        {
            std::unique_lock lock(mutex_);
            if (running != begins_.end()) begins_.erase(running);
            running = begins_.end();
            changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
            if (ending_) return;
            job = std::move(queue_.front().job);
            tries_ -= queue_.front().is_try ? 1 : 0;
            queue_.pop_front();
            ++stats_.begun;
            running = begins_.insert(begins_.end(), std::chrono::steady_clock::now());
        }
        job(false);
    }
}

}  // namespace proxy
