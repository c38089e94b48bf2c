#include "proxy/node/service_manager.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace proxy {
namespace {

constexpr timeval kPatience{1, 0};

/// As sd_notify(), but waits at most kPatience for a manager that does not read. An error stays
/// unreported: a node serves also if its manager is out of reach.
void notify(const std::string& state) {
    const auto* const path = std::getenv("NOTIFY_SOCKET");
    sockaddr_un to{};
    const std::string_view name(path ? path : "");
    if (name.empty() || name.size() >= sizeof to.sun_path) return;
    if (name.front() != '/' && name.front() != '@') return void(::sd_notify(0, state.c_str()));
    to.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), to.sun_path);
    if (name.front() == '@') to.sun_path[0] = '\0';  // an abstract socket
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    const auto size = offsetof(sockaddr_un, sun_path) + name.size();
    ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
             static_cast<socklen_t>(size));
    ::close(fd);
}

std::string status_line(std::string status) {
    std::replace(status.begin(), status.end(), '\n', ' ');  // a newline begins another assignment
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

void ServiceManager::report(const std::string& status) const {
    if (listens_) notify(status_line(status));
}

}  // namespace proxy
