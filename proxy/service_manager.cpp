#include "proxy/service_manager.hpp"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace proxy {
namespace {

/// Without an answer: a manager that cannot be reached is no reason not to serve.
void notify(const std::string& state) {
    ::sd_notify(0, state.c_str());
}

std::string status_line(std::string status) {
    std::replace(status.begin(), status.end(), '\n', ' ');  // it would begin another assignment
    return "STATUS=" + status;
}

}  // namespace

ServiceManager ServiceManager::of_this_process() {
    ServiceManager manager;
    manager.listens_ = std::getenv("NOTIFY_SOCKET") != nullptr;
    std::uint64_t microseconds = 0;
    if (::sd_watchdog_enabled(0, &microseconds) > 0)
        manager.patience_ = std::chrono::microseconds(microseconds);
    return manager;
}

void ServiceManager::ready(const std::string& status) const {
    if (listens_) notify("READY=1\n" + status_line(status));
}

void ServiceManager::reloading() const {
    if (!listens_) return;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

void ServiceManager::stopping(const std::string& status, std::chrono::nanoseconds at_most) const {
    if (!listens_) return;
    const auto microseconds = std::chrono::ceil<std::chrono::microseconds>(at_most).count();
    notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(microseconds) + '\n' +
           status_line(status));
}

void ServiceManager::alive() const {
    if (listens_) notify("WATCHDOG=1");
}

void ServiceManager::tell(const std::string& status) const {
    if (listens_) notify(status_line(status));
}

}  // namespace proxy
