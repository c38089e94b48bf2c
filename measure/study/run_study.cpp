#include "measure/study/run_study.hpp"

#include <atomic>
#include <csignal>
#include <stdexcept>

namespace measure {
namespace {

std::atomic<bool> asked_to_end{false};

}  // namespace

void run_study(const Trace& trace, Study& study, unsigned jobs,
               const std::function<bool(const StudyProgress&)>& progress,
               const Simulator& simulator) {
    const auto simulate_row = [&](std::size_t at, const Step& step) {
        StudyRow& row = study.rows[at];
        if (row.counts || !row.refused.empty()) return;
        try {
            auto counts = simulator(trace, row.config, step);
            if (step(1)) row.counts = counts;
        } catch (const std::invalid_argument& error) {
            row.refused = error.what();
        }
    };
    if (!run_parts(study.rows.size(), jobs, simulate_row, progress)) study.stopped = true;
}

InterruptGuard::InterruptGuard() {
    asked_to_end = false;
    struct sigaction action {};
    action.sa_handler = [](int) { asked_to_end = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::asked() {
    return asked_to_end;
}

}  // namespace measure
