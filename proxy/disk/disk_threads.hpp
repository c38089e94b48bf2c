#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace proxy {

/// A few threads that wait for a disk in place of their callers. Jobs run in the order of their
/// arrival. Any thread.
class DiskThreads {
public:
    /// Called once, on one of the threads. `ending` cancels the job; it is then called on the
    /// thread that ends the threads, or at once.
    using Job = std::function<void(bool ending)>;

    /// `most` limits the waiting jobs of try_run().
    DiskThreads(unsigned threads, std::size_t most);
    /// Calls the waiting jobs with `ending`, and ends the threads.
    ~DiskThreads();
    DiskThreads(const DiskThreads&) = delete;
    DiskThreads& operator=(const DiskThreads&) = delete;

    /// False if too many jobs wait, or the threads are ending; the job is dropped then.
    bool try_run(Job job);
    /// For jobs that must run. The caller bounds their number.
    void run(Job job);

    struct Stats {
        std::uint64_t begun = 0, refused = 0;
        std::size_t waiting = 0;
    };
    Stats stats() const;

private:
    void work();

    const std::size_t most_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    struct Waiting {
        Job job;
        bool is_try = false;
    };
    std::deque<Waiting> queue_;
    std::size_t tries_ = 0;  // in the queue
    bool ending_ = false;
    Stats stats_;
    std::vector<std::thread> threads_;
};

}  // namespace proxy
