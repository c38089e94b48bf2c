#include "protocol/shared.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "protocol/crypto.hpp"
#include "summary/false_hit_budget.hpp"

namespace protocol {
namespace {

/// Names are looked up anew for each connection: a peer that came back may have moved.
Resolver::Options names_kept_for_no_time(const DnsSettings& dns) {
    Resolver::Options options;
    options.dns = dns;
    options.most_kept = std::chrono::nanoseconds(0);
    return options;
}

Instance fresh_instance() {
    Instance instance;
    random_bytes(instance);
    return instance;
}

/// Larger than any epoch of an earlier run, unless the clock was set back; nothing but the numbers
/// in status pages depends on it, as a new run is a new link with a snapshot.
std::uint64_t first_epoch() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
}

Publisher::Config publisher_config(const ClusterConfig& config) {
    Publisher::Config result;
    const auto peers = peers_provided_for(!config.dns_peers.empty(), config.peers.size(), 0);
    result.summary.error = summary::error_per_summary(config.false_hit_budget, peers);
    result.summary.first_epoch = first_epoch();
    result.summary.kind = config.summary_kind;
    result.announce_changed = config.announce_changed;
    result.announce_delay = config.announce_delay;
    result.check_hash = config.timings.check_hash;
    return result;
}

}  // namespace

Shared::Shared(boost::asio::any_io_executor on, ClusterConfig configuration, ClusterHooks to_owner)
    : executor(std::move(on)),
      config(std::move(configuration)),
      self{config.node, fresh_instance()},
      keys(config.keys),
      publisher(publisher_config(config), std::chrono::steady_clock::now()),
      invalidations(0, config.max_invalidations_kept),
      membership(config.node, config.max_peers, config.timings.forget),
      resolver(executor, names_kept_for_no_time(config.dns)),
      dialer(executor),
      dial_places(executor),
      log(config.node),
      hooks(std::move(to_owner)),
      beat_interval(protocol::beat_interval(config.timings.heartbeat, config.peers.size())) {
    rules.is_peer = [this](std::string_view node) { return membership.admits(node); };
    rules.max_summary_bytes = config.max_summary_bytes;
}

void Shared::show_view() {
    const auto view = neighbours.take_view();
    if (view && hooks.on_view) hooks.on_view(view);
}

void Shared::show_view_soon() {
    if (view_is_planned || !neighbours.changed()) return;
    view_is_planned = true;
    boost::asio::post(executor, [anchor = std::weak_ptr(anchor)] {
        const auto still = anchor.lock();
        if (!still) return;
        (*still)->view_is_planned = false;
        (*still)->show_view();
    });
}

Nonce fresh_nonce() {
    Nonce nonce;
    random_bytes(nonce);
    return nonce;
}

}  // namespace protocol
