#include "protocol/links/peering_services.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "base/async/wall_clock.hpp"
#include "base/tls/crypto.hpp"

namespace protocol {
namespace {

/// Each connection looks its name up again, as a peer that came back may have moved.
base::Resolver::Options names_kept_for_no_time(const base::DnsSettings& dns) {
    base::Resolver::Options options;
    options.dns = dns;
    options.most_kept = std::chrono::nanoseconds(0);
    return options;
}

Instance fresh_instance() {
    Instance instance;
    base::random_bytes(instance);
    return instance;
}

/// Larger than all epochs of earlier instances, unless the clock was set back. Only numbers in
/// status pages depend on it, as a new instance means a new link with a snapshot.
std::uint64_t first_epoch() {
    return std::max<std::uint64_t>(base::wall_ms(), 1);
}

base::awaitable<void> keeping([[maybe_unused]] std::shared_ptr<void> owner,
                              base::awaitable<void> task) {
    co_await std::move(task);
}

}  // namespace

PeeringServices::PeeringServices(boost::asio::any_io_executor on, PeeringConfig configuration,
                                 ClusterHooks to_owner)
    : Peering(std::move(configuration), fresh_instance(), first_epoch(),
              std::chrono::steady_clock::now()),
      executor(std::move(on)),
      psk(link_tls(config)),
      resolver(executor, names_kept_for_no_time(config.dns)),
      dialer(executor),
      dial_permits(executor),
      log(config.node),
      tasks(executor) {
    hooks = std::move(to_owner);
    stamp_report();
}

void PeeringServices::stamp_report() {
    report.made = std::chrono::steady_clock::now();
    report.clock_ms = base::wall_ms();
}

void PeeringServices::spawn(base::awaitable<void> task) {
    tasks.spawn(keeping(owner.lock(), std::move(task)));
}

void PeeringServices::show_view() {
    const auto view = neighbours.take_view();
    if (view && hooks.on_view) hooks.on_view(view);
}

void PeeringServices::show_view_soon() {
    if (view_is_planned || !neighbours.changed()) return;
    view_is_planned = true;
    boost::asio::post(executor, [anchor = std::weak_ptr(anchor)] {
        const auto still = anchor.lock();
        if (!still) return;
        (*still)->view_is_planned = false;
        (*still)->show_view();
    });
}

void PeeringServices::settle() {
    if (neighbours.changed()) neighbours.takes_away() ? show_view() : show_view_soon();
    if (plan_work) plan_work();
}

PeerDialer* PeeringServices::dialer_to(std::size_t peer) const {
    const auto& contact = membership.peers()[peer].contact;
    if (!contact) return nullptr;
    const auto found = peer_dialers.find(*contact);
    return found == peer_dialers.end() ? nullptr : found->second.get();
}

std::unique_ptr<const base::PskContext> link_tls(const PeeringConfig& config) {
    return config.security.keys.empty()
               ? nullptr
               : std::make_unique<const base::PskContext>(tls_keys(config.security.keys));
}

Nonce fresh_nonce() {
    Nonce nonce;
    base::random_bytes(nonce);
    return nonce;
}

}  // namespace protocol
