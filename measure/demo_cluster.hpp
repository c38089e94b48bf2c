#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/net/host_port.hpp"
#include "measure/report/progress.hpp"
#include "measure/run/child_process.hpp"

namespace measure {

/// The proxies of the demo: one process each on loopback, configured as peers. One thread.
class DemoCluster {
public:
    struct Member {
        const char* name = "";
        base::HostPort proxy, link, admin;
        std::string config, log;  ///< their files
        std::unique_ptr<ChildProcess> process;
    };

    /// Chooses the ports: those of the documentation if all of them are free, otherwise any free
    /// ones. Configurations and logs go into files below `directory`. With `disk_bytes` each proxy
    /// also keeps its disk there.
    DemoCluster(std::string directory, std::optional<std::uint64_t> disk_bytes);

    /// The port at which the origin must listen; 0 leaves the choice to it.
    std::uint16_t origin_port() const { return origin_port_; }
    /// Writes the configurations, for an origin at this port.
    void configure(std::uint16_t origin_port);
    void start();
    /// Kills all proxies at once with SIGKILL.
    void kill();
    /// Throws std::runtime_error if a proxy fails to start, or if `interrupted` returns true.
    void wait_until_in_step(const std::function<bool()>& interrupted, Progress& progress);
    /// Asks all proxies to end. The destructor waits for them.
    void terminate();

    const std::vector<Member>& members() const { return members_; }
    std::vector<base::HostPort> proxies() const;
    std::vector<base::HostPort> admins() const;

private:
    void choose_ports();

    const std::string directory_;
    const std::optional<std::uint64_t> disk_bytes_;
    std::uint16_t origin_port_ = 0;
    std::vector<Member> members_;
};

/// The last lines that a proxy has logged.
std::string last_lines_of(const DemoCluster::Member&);

}  // namespace measure
