#include "proxy/disk/error_history.hpp"

#include <utility>

namespace proxy {

void ErrorHistory::note(std::string what) {
    const std::lock_guard lock(mutex_);
    last_ = std::move(what);
    last_at_ = Clock::now();
    last_is_full_ = false;
}

bool ErrorHistory::note(const boost::system::error_code& error, std::string_view activity) {
    const std::lock_guard lock(mutex_);
    last_ = std::string(activity).append(": ").append(error.message());
    last_at_ = Clock::now();
    last_is_full_ = is_full(error);
    const bool of_the_disk = is_of_system(error) && !is_full(error) && !is_of_process(error);
    if (!of_the_disk || (!faults_.note(Clock::now()) && !is_gone(error))) return false;
    failing_ = true;
    return true;
}

void ErrorHistory::forgive() {
    const std::lock_guard lock(mutex_);
    faults_.clear();
    failing_ = false;
}

void ErrorHistory::show(DiskStatus& status) const {
    const std::lock_guard lock(mutex_);
    status.last_error = last_;
    if (!last_.empty())
        status.last_error_seconds = std::chrono::duration<double>(Clock::now() - last_at_).count();
    status.last_error_is_full = last_is_full_;
}

}  // namespace proxy
