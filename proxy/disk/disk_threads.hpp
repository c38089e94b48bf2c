#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
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
    /// As begin_end(), and waits for the jobs that run.
    ~DiskThreads();
    DiskThreads(const DiskThreads&) = delete;
    DiskThreads& operator=(const DiskThreads&) = delete;

    /// Calls the waiting jobs with `ending`. No job begins from here on.
    void begin_end();

    /// False if too many jobs wait, or the threads are ending; the job is dropped then.
    bool try_run(Job job);
    /// For jobs that must run. The caller bounds their number.
    void run(Job job);

    struct Stats {
        std::uint64_t begun = 0, refused = 0;
        std::size_t waiting = 0;
        /// The begin of the job that has run the longest; none: no job runs.
        std::optional<std::chrono::steady_clock::time_point> oldest = {};
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
    std::size_t tries_ = 0;                                    // in the queue
    std::list<std::chrono::steady_clock::time_point> begins_;  // of jobs that run, in order
    bool ending_ = false;
    Stats stats_;
    std::vector<std::thread> threads_;
};

}  // namespace proxy
