#pragma once

#include <chrono>
#include <string>

namespace proxy {

/// Notifies the service manager that started this process (systemd, by sd_notify(3)) of the node's
/// state. Without a service manager every call returns at once. A call waits for a manager that
/// does not read, one second at most, and ignores errors. Copies notify the same manager. Any
/// thread. `status`: one line about the node's present work.
class ServiceManager {
public:
    ServiceManager() = default;  // no manager
    /// The manager that NOTIFY_SOCKET and WATCHDOG_USEC name.
    static ServiceManager of_this_process();

    bool listens() const { return listens_; }
    /// Time of the manager's watchdog: it restarts a node that is silent for longer. Zero: off.
    std::chrono::nanoseconds patience() const { return patience_; }

    /// The node serves. Called again at the end of each reload.
    void ready(const std::string& status) const;
    void reloading() const;
    /// The node ends within `at_most`.
    void stopping(const std::string& status, std::chrono::nanoseconds at_most) const;
    void alive() const;
    void report(const std::string& status) const;

private:
    bool listens_ = false;
    std::chrono::nanoseconds patience_{0};
};

}  // namespace proxy
