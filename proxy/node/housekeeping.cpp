#include "proxy/node/housekeeping.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/memory/free_memory.hpp"

namespace proxy {
namespace {

/// Intervals: usually, and while the keys of a start are taken in.
constexpr std::chrono::milliseconds kHousekeeping{5000}, kHousekeepingOfImport{100};
/// A directory notices within a second that it is lost; the log has a line soon after.
constexpr std::chrono::milliseconds kLookAtDisks{500};
/// After this time peers get the keys that recovery has found so far, even if it still reads.
constexpr std::chrono::seconds kImportAtMost{60};

}  // namespace

Housekeeping::Housekeeping(const NodeParts& node, const ControlQueue& queue,
                           NodeInvalidations& invalidations, ServiceNotices& notices)
    : node_(node),
      queue_(queue),
      invalidations_(invalidations),
      notices_(notices),
      timer_(node.control),
      look_timer_(node.control) {
    if (node_.cache.store.disk()) open_first_sights();
}

void Housekeeping::open_first_sights() {
    std::vector<std::filesystem::path> directories;
    for (const auto& each : node_.config->cache.disk) directories.emplace_back(each.path);
    auto& cache = node_.cache;
    first_sight_files_.emplace(cache.disk_calls, std::move(directories),
                               secret_mark_of(cache.key_hasher), cache.first_sights);
}

void Housekeeping::start() {
    started_ = std::chrono::steady_clock::now();
    plan();
    if (node_.cache.store.disk()) plan_look();
}

void Housekeeping::stop() {
    stopped_ = true;
    timer_.cancel();
    look_timer_.cancel();
}

void Housekeeping::plan() {
    timer_.expires_after(node_.cluster.importing() ? kHousekeepingOfImport : kHousekeeping);
    timer_.async_wait([this](const boost::system::error_code& ec) {
        if (ec || stopped_) return;  // the timer may have expired just before the end
        plan();                      // first, because work() may throw
        work();
    });
}

void Housekeeping::plan_look() {
    look_timer_.expires_after(kLookAtDisks);
    look_timer_.async_wait([this](const boost::system::error_code& ec) {
        if (ec || stopped_) return;
        plan_look();
        look_at_disks();
    });
}

void Housekeeping::look_at_disks() {
    if (auto* const disk = node_.cache.store.disk()) disk_watch_.look(disk->status());
}

/// The memory of a crowd of connections, or of a recovery, goes back to the system.
void Housekeeping::work() {
    auto* const disk = node_.cache.store.disk();
    const bool loading =
        disk && disk->loading() && std::chrono::steady_clock::now() < started_ + kImportAtMost;
    auto& clients = node_.clients;
    if (clients.high_water_mark.has_fallen(clients.connections) ||
        node_.cluster.end_import(loading, queue_))
        base::return_free_memory();
    notices_.refresh();
    invalidations_.maintain_journals();
    keep_first_sights();
}

void Housekeeping::keep_first_sights() {
    if (!first_sight_files_) return;
    first_sight_files_->maintain(std::chrono::steady_clock::now());
    for (const auto& [directory, error] : first_sight_files_->take_troubles())
        spdlog::warn("disk {}: {}: times of first sight (min_age) may be lost", directory.string(),
                     error.message());
}

}  // namespace proxy
