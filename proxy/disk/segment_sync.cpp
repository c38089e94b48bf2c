#include "proxy/disk/segment_sync.hpp"

#include <utility>

namespace proxy {

SegmentSync::SegmentSync(Failed failed) : failed_(std::move(failed)), thread_([this] { run(); }) {}

SegmentSync::~SegmentSync() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void SegmentSync::take(SegmentPtr sealed) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return waiting_.size() < kMost; });
        waiting_.push_back(std::move(sealed));
    }
    changed_.notify_all();
}

void SegmentSync::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty(); });
}

std::optional<std::chrono::steady_clock::time_point> SegmentSync::since() const {
    const std::lock_guard lock(mutex_);
    return since_;
}

void SegmentSync::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        auto sealed = waiting_.front();
        since_ = std::chrono::steady_clock::now();
        lock.unlock();
        // A segment that was removed meanwhile needs no sync.
        if (!sealed->file.is_removed())
            if (const auto error = sealed->file.sync()) failed_(error);
        sealed.reset();
        lock.lock();
        since_.reset();
        waiting_.pop_front();
        changed_.notify_all();
    }
}

}  // namespace proxy
