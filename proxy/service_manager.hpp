#pragma once

#include <chrono>
#include <string>

namespace proxy {

/// The service manager that started this process, as far as it wants to be told: systemd, by
/// sd_notify(3), which waits while it does not read. Copies speak to the same one; where there is
/// none nothing happens. Any thread.
/// `status`: one line about what the node does now.
class ServiceManager {
public:
    ServiceManager() = default;  // there is none
    /// The one that NOTIFY_SOCKET and WATCHDOG_USEC name.
    static ServiceManager of_this_process();

    bool listens() const { return listens_; }
    /// It takes the node for hung when alive() was not said for so long; zero: it does not care.
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
