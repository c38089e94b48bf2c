#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/report/progress.hpp"
#include "measure/run/child_process.hpp"
#include "protocol/net/host_port.hpp"

namespace measure {

/// The proxies of the demo: processes on loopback that know each other. One thread.
class DemoCluster {
public:
    struct Member {
        const char* name = "";
        protocol::HostPort proxy, link, admin;
        std::string config, log;  ///< their files
        std::unique_ptr<ChildProcess> process;
    };

    /// Chooses the ports: those of the documentation if all are free, else any that are. What the
    /// proxies need in files goes below `directory`, what they keep there too when `disk_bytes` are
    /// given.
    DemoCluster(std::string directory, std::optional<std::uint64_t> disk_bytes);

    /// Where the origin is to listen; 0: anywhere.
    std::uint16_t origin_port() const { return origin_port_; }
    /// Writes the configurations, for an origin at this port.
    void configure(std::uint16_t origin_port);
    void start();
    /// All at once, without a word.
    void kill();
    /// Throws std::runtime_error when they do not come up, or when `interrupted` says so.
    void wait_until_in_step(const std::function<bool()>& interrupted, Progress& progress);
    /// Asks all to end; the destructor waits for that.
    void terminate();

    const std::vector<Member>& members() const { return members_; }
    std::vector<protocol::HostPort> proxies() const;
    std::vector<protocol::HostPort> admins() const;

private:
    void choose_ports();

    const std::string directory_;
    const std::optional<std::uint64_t> disk_bytes_;
    std::uint16_t origin_port_ = 0;
    std::vector<Member> members_;
};

/// The end of what a proxy has logged.
std::string last_lines_of(const DemoCluster::Member&);

}  // namespace measure
