#include "protocol/links/peering.hpp"

#include <string_view>
#include <utility>

#include "protocol/wire/codec.hpp"
#include "protocol/wire/heartbeat.hpp"
#include "protocol/wire/wire.hpp"
#include "summary/sizing/false_hit_budget.hpp"

namespace protocol {
namespace {

Publisher::Config publisher_config(const PeeringConfig& config, std::uint64_t first_epoch) {
    Publisher::Config result;
    const auto peers = peers_provided_for(!config.dns_peers.empty(), config.peers.size(), 0);
    result.summary.error = summary::error_per_summary(config.summary.false_hit_budget, peers);
    result.summary.first_epoch = first_epoch;
    result.summary.kind = config.summary.kind;
    result.announce_changed = config.summary.announce.changed;
    result.announce_delay = config.summary.announce.delay;
    result.check_hash = config.timings.check_hash;
    result.recent_bytes = config.max_queued_bytes;
    return result;
}

}  // namespace

std::uint64_t Peering::OwnReport::clock_at(TimePoint now) const {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - made).count();
    return clock_ms == 0 ? 0 : clock_ms + static_cast<std::uint64_t>(since);
}

std::shared_ptr<const Bytes> Peering::OwnReport::stamped(TimePoint now) const {
    if (clock_ms == 0) return bytes;
    auto all = std::make_shared<Bytes>(*bytes);
    WireWriter out(*all);
    out.u8(kReportClockSection);
    out.u8(sizeof clock_ms);
    out.u64(clock_at(now));
    return all;
}

Peering::Peering(PeeringConfig configuration, const Instance& instance, std::uint64_t first_epoch,
                 TimePoint now)
    : config(std::move(configuration)),
      self{config.node, instance, config.rules},
      keys(config.security.keys),
      publisher(publisher_config(config, first_epoch), now),
      invalidations(0, config.max_invalidations_kept),
      membership(config.node, config.max_peers, config.timings.forget),
      beat_interval(protocol::beat_interval(config.timings.heartbeat, config.peers.size())) {
    rules.is_peer = [this](std::string_view node) { return membership.admits(node); };
    rules.max_summary_bytes = config.max_summary_bytes;
}

std::chrono::nanoseconds Peering::silence_limit(std::size_t peer) {
    return protocol::silence_limit(config.timings.gone_after, config.timings.heartbeat,
                                   pulse(peer).promised);
}

}  // namespace protocol
