#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>

#include "proxy/node/control_queue.hpp"
#include "proxy/node/disk_watch.hpp"
#include "proxy/node/node_invalidations.hpp"
#include "proxy/node/node_parts.hpp"
#include "proxy/node/service_notices.hpp"
#include "proxy/storage/first_sight_file.hpp"

namespace proxy {

/// The work of a node that falls due while nothing happens: memory goes back to the system, peers
/// get the keys that recovery has found, the log learns of disks, and files are kept. Control
/// thread.
class Housekeeping {
public:
    /// All arguments outlive this object. Reads the first sights of an earlier process.
    Housekeeping(const NodeParts& node, const ControlQueue& queue, NodeInvalidations& invalidations,
                 ServiceNotices& notices);

    void start();
    void stop();
    /// Writes the last files. Call it when all threads have ended, and before the disks close.
    void close() {
        look_at_disks();
        first_sight_files_.reset();
    }

private:
    void open_first_sights();
    void plan();
    void plan_look();
    void work();
    void look_at_disks();
    void keep_first_sights();

    const NodeParts node_;
    const ControlQueue& queue_;
    NodeInvalidations& invalidations_;
    ServiceNotices& notices_;
    boost::asio::steady_timer timer_, look_timer_;
    std::chrono::steady_clock::time_point started_{};
    DiskWatch disk_watch_;
    std::optional<FirstSightFiles> first_sight_files_;  // with a disk
    bool stopped_ = false;
};

}  // namespace proxy
