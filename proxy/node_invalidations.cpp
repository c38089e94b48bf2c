#include "proxy/node_invalidations.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/disk/super_file.hpp"
#include "proxy/net/awaited_value.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

/// "1 URL", "2 URLs".
std::string counted(std::uint64_t number, std::string_view noun) {
    return std::to_string(number).append(" ").append(noun).append(number == 1 ? "" : "s");
}

}  // namespace

NodeInvalidations::NodeInvalidations(asio::io_context& control, std::string node,
                                     const std::unique_ptr<protocol::Cluster>& cluster,
                                     SharedCache& cache)
    : control_(control),
      node_(std::move(node)),
      cluster_(cluster),
      cache_(cache),
      invalidated_(control_, [this](std::span<const protocol::Invalidation> batch) {
          protocol::Invalidation all;
          for (const auto& what : batch) all += what;
          tell_peers_now(all);
      }) {}

void NodeInvalidations::keep(const Config& config) {
    if (!config.cluster || config.cache.disk.empty()) return;
    std::vector<std::filesystem::path> directories;
    for (const auto& each : config.cache.disk) directories.emplace_back(each.path);
    journals_.emplace(cache_.disk_calls, directories, cache_.secret_mark());
    for (const auto& [directory, error] : journals_->trouble_reading())
        spdlog::warn("{}: {}: what it held of invalidations that peers had not confirmed is lost",
                     directory.string(), error.message());
    cluster_->go_on_from(journals_->take_earlier());
}

void NodeInvalidations::tend() {
    if (!journals_) return;
    std::set<std::filesystem::path> in_trouble;
    const auto trouble = journals_->trouble();
    for (const auto& [directory, error] : trouble) {
        in_trouble.insert(directory);
        if (in_trouble_.contains(directory)) continue;
        spdlog::warn("disk {}: {}: what peers have not heard of purges is not kept there",
                     directory.string(), error.message());
    }
    in_trouble_ = std::move(in_trouble);
    journals_->confirmed(cluster_->confirmed_by_node());
    if (journals_->wants_rewrite()) journals_->rewrite(cluster_->kept_invalidations());
}

void NodeInvalidations::close() {
    if (journals_) journals_->confirmed(cluster_->confirmed_by_node());
    journals_.reset();
}

void NodeInvalidations::tell_peers(protocol::Invalidation what) {
    if (control_.get_executor().running_in_this_thread())
        tell_peers_now(what);
    else
        invalidated_.push(std::move(what));
}

void NodeInvalidations::tell_peers_now(const protocol::Invalidation& what) {
    const auto last = cluster_->invalidate(what);
    if (journals_) journals_->add(last, what);
}

void NodeInvalidations::take(const protocol::Invalidation& what, std::function<void()> done) {
    const auto dropped = cache_.drop(what, Clock::now());
    if (what.all && dropped > 0)
        spdlog::warn(
            "a peer has invalidated what it can name no more: all that was stored is gone");
    // What its own journal lacks is this node's trouble alone.
    when_kept([done = std::move(done)](bool) { done(); });
}

/// `done` is called on the control thread once nothing that was invalidated so far can come back,
/// here or at peers that do not know of it yet, whatever becomes of this process; or with false,
/// when that could not be written for the peers.
void NodeInvalidations::when_kept(std::function<void(bool kept)> done) {
    auto here = [this, done = std::move(done)](bool kept) mutable {
        asio::post(control_, [done = std::move(done), kept] { done(kept); });
    };
    if (!journals_) return cache_.when_kept([here = std::move(here)]() mutable { here(true); });
    cache_.when_kept(
        [this, here = std::move(here)]() mutable { journals_->when_written(std::move(here)); });
}

asio::awaitable<PurgeReport> NodeInvalidations::purge(PurgeOrder order) {
    PurgeReport report;
    report.node = node_;
    const auto what = named(order, cache_.key_hasher);
    const auto now = Clock::now();
    report.objects = cache_.invalidate(what, now);
    const auto number = cluster_->last_invalidation();  // told by now: this is their thread
    const auto deadline = now + kPurgeDeadline;
    const auto kept =
        std::make_shared<AwaitedValue<bool>>(std::make_shared<Wakeup>(control_.get_executor()));
    when_kept([kept](bool is) { kept->give(is); });
    // The disk works while the peers are waited for.
    co_await cluster_->wait_confirmed(number, deadline, protocol::Cluster::Whom::linked);
    const auto in_time = co_await kept->wait_until(deadline);
    const auto is_kept = in_time && kept->value();
    for (const auto& peer : cluster_->confirmations(number)) {
        auto& list = peer.confirmed ? report.confirmed : peer.linked ? report.pending : report.away;
        list.push_back(peer.node);
    }
    spdlog::info(
        "node {}: purged {} and {}, {} here{}; peers: {} confirmed, {} not yet, {} away",
        report.node, counted(what.keys.size(), "URL"), counted(what.tags.size(), "tag"),
        counted(report.objects, "object"),
        is_kept ? "" : " (which a crash might bring back, as the disk has not written it yet)",
        report.confirmed.size(), report.pending.size(), report.away.size());
    if (!is_kept) report.pending.insert(report.pending.begin(), report.node);
    co_return report;
}

void NodeInvalidations::purge(PurgeOrder order, std::function<void(PurgeReport)> done) {
    asio::post(control_, [this, order = std::move(order), done = std::move(done)]() mutable {
        asio::co_spawn(control_, purge(std::move(order)),
                       [done = std::move(done)](const std::exception_ptr& bug, auto report) {
                           if (bug) std::rethrow_exception(bug);
                           done(std::move(report));
                       });
    });
}

}  // namespace proxy
