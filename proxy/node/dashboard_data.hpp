#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "proxy/admin/node_report.hpp"
#include "proxy/admin/view_json.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/node/worker.hpp"
#include "proxy/telemetry/history.hpp"
#include "proxy/telemetry/history_file.hpp"
#include "proxy/telemetry/recent_errors.hpp"
#include "proxy/telemetry/site_counts.hpp"

namespace proxy {

/// The data of one node behind the dashboard, for the admin port: history, sites, most frequent
/// requests, errors. Control thread.
class DashboardData {
public:
    /// All must outlive this object. `errors` may be null. Reads the history of an earlier process
    /// from the disk, if there is a disk.
    DashboardData(boost::asio::io_context& control,
                  const std::vector<std::unique_ptr<Worker>>& workers,
                  const ConfigInEffect& settings, std::shared_ptr<const RecentErrors> errors);

    /// Writes the history to the disk. Call it at the end, when no other thread uses this object.
    void close();

    /// Adds the counts of now to the history, and writes it to the disk now and then.
    void sample(const WorkerCounters& counters);
    /// The report of a node in this state.
    NodeReport report(const NodeStatus& status) const;

    const History& history() const { return history_; }
    boost::asio::awaitable<SiteTotals> sites() const;
    boost::asio::awaitable<TopLists> top() const;
    std::vector<RecentErrors::Line> errors() const;

private:
    boost::asio::io_context& control_;
    const std::vector<std::unique_ptr<Worker>>& workers_;
    const ConfigInEffect& settings_;
    const std::shared_ptr<const RecentErrors> errors_;
    History history_{std::chrono::steady_clock::now()};
    HistoryFile file_;
    std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::now();
    bool is_closed_ = false;
};

}  // namespace proxy
