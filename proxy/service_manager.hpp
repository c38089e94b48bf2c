#pragma once

#include <chrono>
#include <string>

namespace proxy {

/// Tells the service manager that started this process (systemd, by sd_notify(3)) how the node is.
/// Does nothing where there is none. Calls wait a second at most for a manager that does not read.
/// Copies speak to the same one. Any thread. `status`: one line about what the node does now.
class ServiceManager {
public:
    ServiceManager() = default;  // there is none
    /// The one that NOTIFY_SOCKET and WATCHDOG_USEC name.
    static ServiceManager of_this_process();

    bool listens() const { return listens_; }
    /// The manager's watchdog: without alive() for so long it takes the node for hung. Zero: none.
    std::chrono::nanoseconds patience() const { return patience_; }

    /// It serves; also once more at the end of each reload.
    void ready(const std::string& status) const;
    void reloading() const;
    /// It ends, which may take so long.
    void stopping(const std::string& status, std::chrono::nanoseconds at_most) const;
    void alive() const;
    void tell(const std::string& status) const;

private:
    bool listens_ = false;
    std::chrono::nanoseconds patience_{0};
};

}  // namespace proxy
