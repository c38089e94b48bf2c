#include "measure/study/run_parts.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace measure {
namespace {

using namespace std::chrono_literals;

constexpr auto kReportEvery = 100ms;

/// The state that the threads share: the next part, the progress of each part, and whether to go
/// on.
class Work {
public:
    Work(std::size_t parts, const std::function<void(std::size_t, const Step&)>& work)
        : work_(work), parts_(parts) {}

    /// Runs parts on one thread until none is left.
    void run() {
        for (;;) {
            const auto part = next_++;
            if (part >= parts_.size() || ended_) break;
            run_part(part);
        }
        const std::lock_guard lock(mutex_);
        ++finished_;
        changed_.notify_all();
    }
    /// Waits a while. Returns true if so many threads have finished.
    bool wait_for(std::size_t threads) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, kReportEvery, [&] { return finished_ == threads; });
    }
    void end() { ended_ = true; }
    bool ended() const { return ended_; }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }
    StudyProgress progress() const {
        StudyProgress out;
        out.rows = parts_.size();
        double sum = 0;
        for (const auto& part : parts_) {
            sum += part;
            out.done += part >= 1;
        }
        out.part = parts_.empty() ? 1 : sum / static_cast<double>(parts_.size());
        return out;
    }

private:
    void run_part(std::size_t at) {
        try {
            work_(at, [&](double part) {
                parts_[at] = std::min(part, 0.99);
                return !ended_;
            });
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
            ended_ = true;
        }
        if (!ended_) parts_[at] = 1;
    }

    const std::function<void(std::size_t, const Step&)>& work_;
    std::vector<std::atomic<double>> parts_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t finished_ = 0;
    std::exception_ptr error_;
};

}  // namespace

bool run_parts(std::size_t parts, unsigned jobs,
               const std::function<void(std::size_t, const Step&)>& work,
               const std::function<bool(const StudyProgress&)>& progress) {
    Work shared(parts, work);
    const auto threads = std::clamp<std::size_t>(jobs, 1, std::max<std::size_t>(parts, 1));
    {
        std::vector<std::jthread> running;
        for (std::size_t i = 0; i < threads; ++i) running.emplace_back([&shared] { shared.run(); });
        while (!shared.wait_for(threads)) {
            if (!progress(shared.progress())) shared.end();
        }
    }
    shared.rethrow();
    return !shared.ended();
}

unsigned jobs_or_processors(unsigned jobs) {
    return jobs != 0 ? jobs : std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace measure
