#include "measure/study/run_study.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace measure {
namespace {

using namespace std::chrono_literals;

constexpr auto kTellEvery = 100ms;

/// What the threads share: whose turn it is, how far each row is, and whether to go on.
class Work {
public:
    Work(const Trace& trace, Study& study, const Simulator& simulator)
        : trace_(trace), study_(study), simulator_(simulator), parts_(study.rows.size()) {
        for (std::size_t i = 0; i < study.rows.size(); ++i) {
            if (study.rows[i].counts || !study.rows[i].refused.empty()) parts_[i] = 1;
        }
    }

    /// One thread's part of it.
    void run() {
        for (;;) {
            const auto row = next_++;
            if (row >= study_.rows.size() || ended_) break;
            if (parts_[row] < 1) simulate_row(row);
        }
        const std::lock_guard lock(mutex_);
        ++finished_;
        changed_.notify_all();
    }
    /// True when so many threads are through; false after a while, or when a row is.
    bool wait_for(std::size_t threads) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, kTellEvery, [&] { return finished_ == threads; });
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
    void simulate_row(std::size_t at) {
        StudyRow& row = study_.rows[at];
        try {
            auto counts = simulator_(trace_, row.config, [&](double part) {
                parts_[at] = std::min(part, 0.99);
                return !ended_;
            });
            if (ended_) return;
            row.counts = counts;
        } catch (const std::invalid_argument& error) {
            row.refused = error.what();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
            ended_ = true;
            return;
        }
        parts_[at] = 1;
    }

    const Trace& trace_;
    Study& study_;
    const Simulator& simulator_;
    std::vector<std::atomic<double>> parts_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t finished_ = 0;
    std::exception_ptr error_;
};

std::atomic<bool> asked_to_end{false};

}  // namespace

void run_study(const Trace& trace, Study& study, unsigned jobs,
               const std::function<bool(const StudyProgress&)>& progress,
               const Simulator& simulator) {
    Work work(trace, study, simulator);
    const auto threads =
        std::clamp<std::size_t>(jobs, 1, std::max<std::size_t>(study.rows.size(), 1));
    {
        std::vector<std::jthread> running;
        for (std::size_t i = 0; i < threads; ++i) running.emplace_back([&work] { work.run(); });
        while (!work.wait_for(threads)) {
            if (!progress(work.progress())) work.end();
        }
    }
    work.rethrow();
    study.stopped = study.stopped || work.ended();
}

EndBySignal::EndBySignal() {
    asked_to_end = false;
    struct sigaction action {};
    action.sa_handler = [](int) { asked_to_end = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

EndBySignal::~EndBySignal() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool EndBySignal::asked() {
    return asked_to_end;
}

unsigned jobs_or_processors(unsigned jobs) {
    return jobs != 0 ? jobs : std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace measure
