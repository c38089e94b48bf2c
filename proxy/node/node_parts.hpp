#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <vector>

#include "proxy/config/config_in_effect.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/node/node_cluster.hpp"
#include "proxy/node/worker.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/upstream/span_exporter.hpp"

namespace proxy {

/// The parts of a node that its control thread works on. The node owns them.
struct NodeParts {
    ConfigInEffect& config;
    NodeCluster& cluster;
    boost::asio::io_context& control;
    SharedCache& cache;
    SharedClientState& clients;
    const std::vector<std::unique_ptr<Worker>>& workers;
    SpanExporter& exporter;

    /// Calls a function of each worker on its own thread. Any thread.
    void each_worker(void (Worker::*what)()) const {
        for (const auto& worker : workers)
            boost::asio::post(worker->io, [&worker = *worker, what] { (worker.*what)(); });
    }
};

}  // namespace proxy
