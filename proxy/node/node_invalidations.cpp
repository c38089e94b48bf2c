#include "proxy/node/node_invalidations.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/awaited_value.hpp"
#include "base/text/amount.hpp"
#include "proxy/disk/super_file.hpp"
#include "proxy/http/tags.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

std::string names_of(const PurgeOrder& order) {
    const auto urls = base::amount(order.uris.size(), "URL"),
               tags = base::amount(order.tags.size(), "tag");
    const auto rules = base::amount(order.rules.size(), "rule");
    if (!order.prefixes.empty())
        return urls + ", " + tags + ", " + rules + " and " +
               base::amount(order.prefixes.size(), "prefix", "prefixes");
    return order.rules.empty() ? urls + " and " + tags : urls + ", " + tags + " and " + rules;
}

/// The order as stores and peers get it.
protocol::Invalidation invalidation_of(const PurgeOrder& order, const summary::KeyHasher& hasher) {
    protocol::Invalidation what;
    what.soft = order.soft;
    for (const auto& uri : order.uris) what.keys.push_back(hasher(uri));
    for (const auto& rule : order.rules) what.tags.push_back(rule_tag(rule, hasher));
    for (const auto& prefix : order.prefixes) what.tags.push_back(prefix_tag(prefix, hasher));
    for (const auto& tag : order.tags) what.tags.push_back(surrogate_tag(tag, hasher));
    return what;
}

}  // namespace

NodeInvalidations::NodeInvalidations(asio::io_context& control, std::string node,
                                     NodeCluster& cluster, SharedCache& cache)
    : control_(control), node_(std::move(node)), cluster_(cluster), cache_(cache) {}

void NodeInvalidations::open_journals(const Config& config) {
    if (!config.cluster || config.cache.disk.empty()) return;
    std::vector<std::filesystem::path> directories;
    for (const auto& each : config.cache.disk) directories.emplace_back(each.path);
    journals_.emplace(cache_.disk_calls, directories, secret_mark_of(cache_.key_hasher));
    for (const auto& [directory, error] : journals_->trouble_reading())
        spdlog::warn("{}: {}: its invalidations that peers had yet to confirm are lost",
                     directory.string(), error.message());
    cluster_->go_on_from(journals_->take_earlier());
}

void NodeInvalidations::maintain_journals() {
    if (!journals_) return;
    std::set<std::filesystem::path> faulty;
    const auto trouble = journals_->trouble();
    for (const auto& [directory, error] : trouble) {
        faulty.insert(directory);
        if (faulty_journals_.contains(directory)) continue;
        spdlog::warn("disk {}: {}: it keeps no purges for absent peers", directory.string(),
                     error.message());
    }
    faulty_journals_ = std::move(faulty);
    journals_->confirmed(cluster_->confirmed_by_node());
    if (journals_->wants_rewrite()) journals_->rewrite(cluster_->kept_invalidations());
}

void NodeInvalidations::close() {
    if (journals_) journals_->confirmed(cluster_->confirmed_by_node());
    journals_.reset();
}

void NodeInvalidations::tell_peers(const protocol::Invalidation& what) {
    const auto last = cluster_->invalidate(what);
    if (journals_) journals_->add(last, what);
}

void NodeInvalidations::apply(const protocol::Invalidation& what, std::function<void()> done) {
    const auto ended = cache_.store.invalidate(what, Clock::now());
    if (what.all && ended > 0)
        spdlog::warn("a peer has lost the names of its invalidations: the whole store is dropped");
    // The journals hold the invalidations of this node alone, so their disk delays no peer's.
    cache_.store.when_kept(
        [this, done = std::move(done)]() mutable { asio::post(control_, std::move(done)); });
}

/// Calls `done` on the control thread once the disk holds all invalidations so far. Then no crash
/// of this process revives a dropped response, here or at a peer that has yet to get the
/// invalidation. `kept` is false if a journal could not write them for the peers.
void NodeInvalidations::when_kept(std::function<void(bool kept)> done) {
    auto here = [this, done = std::move(done)](bool kept) mutable {
        asio::post(control_, [done = std::move(done), kept] { done(kept); });
    };
    if (!journals_)
        return cache_.store.when_kept([here = std::move(here)]() mutable { here(true); });
    cache_.store.when_kept(
        [this, here = std::move(here)]() mutable { journals_->when_written(std::move(here)); });
}

asio::awaitable<PurgeAnswer> NodeInvalidations::purge(PurgeOrder order) {
    PurgeResult report;
    report.node = node_;
    const auto what = invalidation_of(order, cache_.key_hasher);
    const auto now = Clock::now();
    report.objects = cache_.store.invalidate(what, now);
    tell_peers(what);
    const auto number = cluster_->last_invalidation();
    const auto deadline = now + kPurgeDeadline;
    const auto kept = std::make_shared<base::AwaitedValue<bool>>(
        std::make_shared<base::Wakeup>(control_.get_executor()));
    when_kept([kept](bool is) { kept->give(is); });
    // The disk writes while the node waits for its peers.
    co_await cluster_->wait_confirmed(number, deadline, protocol::Cluster::Whom::linked);
    const auto in_time = co_await kept->wait_until(deadline);
    const auto is_kept = in_time && kept->value();
    for (const auto& peer : cluster_->confirmations(number)) {
        auto& list = peer.confirmed ? report.confirmed : peer.linked ? report.pending : report.away;
        list.push_back(peer.node);
    }
    spdlog::info(
        "node {}: {} {}, {} here{}; peers: {} confirmed, {} not yet, {} away", report.node,
        order.soft ? "made stale:" : "purged", names_of(order),
        base::amount(report.objects, "object"),
        is_kept ? "" : " (which a crash might bring back, as the disk has not written it yet)",
        report.confirmed.size(), report.pending.size(), report.away.size());
    if (!is_kept) report.pending.insert(report.pending.begin(), report.node);
    co_return answer_to_purge(report);
}

void NodeInvalidations::purge(PurgeRequested request) {
    PurgeOrder order;
    order.uris.push_back(std::move(request.uri));
    asio::co_spawn(control_, purge(std::move(order)),
                   [reply = std::move(request.reply)](const std::exception_ptr& bug, auto answer) {
                       if (bug) std::rethrow_exception(bug);
                       reply->give(std::move(answer));
                   });
}

}  // namespace proxy
