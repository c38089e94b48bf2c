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

/// A few threads that may wait for a disk, so that nobody else does, and what they are asked for,
/// first come, first served. Any thread.
class DiskThreads {
public:
    /// Called once, on one of the threads; `ending`: it is not to begin any more, and then on the
    /// thread that ends them, or at once.
    using Job = std::function<void(bool ending)>;

    /// `most`: jobs of try_run() that wait.
    DiskThreads(unsigned threads, std::size_t most);
    /// Ends those that wait, and the threads.
    ~DiskThreads();
    DiskThreads(const DiskThreads&) = delete;
    DiskThreads& operator=(const DiskThreads&) = delete;

    /// False, and it is never called, when too many wait, or all of it ends.
    bool try_run(Job job);
    /// For what must go on; who asks bounds how many there are.
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
