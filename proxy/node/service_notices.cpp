#include "proxy/node/service_notices.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/amount.hpp"

namespace proxy {
namespace {

constexpr int kReportsInPatience = 3;  // of the watchdog, per time of the manager's

std::string serving_line(const Config& config,
                         const std::vector<protocol::ClusterStatus::Peer>& peers,
                         const std::string& reload_error) {
    auto line = "Serving at " + config.listen.text();
    if (!peers.empty()) {
        const auto in_sync = std::count_if(peers.begin(), peers.end(), [](const auto& peer) {
            return peer.state == protocol::PeerState::in_sync;
        });
        line += ", in step with " + std::to_string(in_sync) + " of " +
                base::amount(peers.size(), "peer");
    }
    if (!reload_error.empty()) line += "; the last reload was refused: " + reload_error;
    return line;
}

}  // namespace

void ServiceNotices::serving() {
    if (!leaving_) manager_.ready(reported_ = line());
}

void ServiceNotices::watch(boost::asio::io_context& control,
                           const std::vector<std::unique_ptr<Worker>>& workers) {
    if (manager_.patience() <= manager_.patience().zero()) return;
    std::vector<Watchdog::WatchedLoop> watched;
    for (const auto& worker : workers)
        watched.push_back({worker->io.get_executor(), &worker->finished});
    watchdog_.emplace(control, std::move(watched), manager_.patience() / kReportsInPatience,
                      [this] { manager_.alive(); });
    watchdog_->start();
}

void ServiceNotices::unwatch() {
    if (watchdog_) watchdog_->stop();
}

void ServiceNotices::reload_begins() {
    if (!leaving_) manager_.reloading();
}

void ServiceNotices::reload_ended(const std::string& error) {
    reload_error_ = error;
    serving();
}

void ServiceNotices::draining(std::chrono::nanoseconds at_most) {
    leaving_ = true;
    manager_.stopping(reported_ = line(), at_most);
}

void ServiceNotices::refresh() {
    if (!manager_.listens()) return;
    auto now = line();
    if (now != reported_) manager_.report(reported_ = std::move(now));
}

std::string ServiceNotices::line() const {
    if (leaving_)
        return "Draining, " + base::amount(clients_.connections, "connection") +
               (clients_.connections == 1 ? " is open" : " are open");
    return serving_line(*config_, cluster_->status().peers, reload_error_);
}

}  // namespace proxy
