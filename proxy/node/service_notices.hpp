#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/config/config_in_effect.hpp"
#include "proxy/node/node_cluster.hpp"
#include "proxy/node/service_manager.hpp"
#include "proxy/node/watchdog.hpp"
#include "proxy/node/worker.hpp"
#include "proxy/request/client_service.hpp"

namespace proxy {

/// Reports the phases of a node to the service manager, each with one line about its state, and
/// signs of life. Control thread.
class ServiceNotices {
public:
    /// All references outlive this object.
    ServiceNotices(ServiceManager manager, const ConfigInEffect& config, const NodeCluster& cluster,
                   const SharedClientState& clients)
        : manager_(manager), config_(config), cluster_(cluster), clients_(clients) {}

    /// The node serves clients.
    void serving();
    /// From now on the manager hears that all threads turn, if it has asked for that.
    void watch(boost::asio::io_context& control,
               const std::vector<std::unique_ptr<Worker>>& workers);
    void unwatch();
    void reload_begins();
    /// `error`: the reason for a refusal, else empty.
    void reload_ended(const std::string& error);
    /// The node drains, and ends within `at_most`.
    void draining(std::chrono::nanoseconds at_most);
    /// The node stops. No further notice is a readiness.
    void stopping() { leaving_ = true; }
    /// Reports the line again if it has changed. Call it periodically.
    void refresh();

private:
    std::string line() const;

    const ServiceManager manager_;
    const ConfigInEffect& config_;
    const NodeCluster& cluster_;
    const SharedClientState& clients_;
    std::string reload_error_;  // of the last reload
    std::string reported_;      // the last line
    bool leaving_ = false;
    std::optional<Watchdog> watchdog_;
};

}  // namespace proxy
