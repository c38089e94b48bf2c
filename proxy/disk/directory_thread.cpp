#include "proxy/disk/directory_thread.hpp"

#include <utility>

namespace proxy {

void DirectoryThread::start(std::function<void()> work) {
    thread_ = std::thread([this, work = std::move(work)] {
        works_on();
        work();
        rests();
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        changed_.notify_all();
    });
}

bool DirectoryThread::ends_within(Clock::duration at_most) {
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, at_most, [this] { return ended_; })) return false;
    }
    thread_.join();
    return true;
}

}  // namespace proxy
