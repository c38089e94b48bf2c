#include "proxy/upstream/upstream.hpp"

#include <utility>

namespace proxy {

Upstream::Upstream(boost::asio::any_io_executor io, TimerWheel& timers,
                   const std::shared_ptr<const Config>& in_effect, MemoryBudget& windows,
                   WorkerCounters& counted)
    : executor(std::move(io)),
      wheel(timers),
      settings(in_effect),
      counters(counted),
      resolver(executor),
      pool(executor, wheel, resolver, settings, windows),
      fetches(executor) {}

HeadLimits Upstream::head_limits() const {
    const auto& limits = config().limits;
    return {limits.request_line, limits.head, limits.head_lines};
}

void Upstream::set_peers(std::shared_ptr<const protocol::PeerView> view) {
    const auto same = peers && view && peers->peers.same_nodes(view->peers);
    if (!same && view) {  // peers have come or gone: a record goes with its name
        std::vector<PeerRecord> records(view->peers.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            auto* known = record_of(view->peers[i].node);
            if (known != nullptr) records[i] = std::exchange(*known, PeerRecord());
        }
        for (const auto& left : peer_records) gone_peers.add(left.counts());
        peer_records = std::move(records);
    }
    peers = std::move(view);
}

PeerRecord& Upstream::record_or_gone(std::string_view node) {
    auto* record = record_of(node);
    return record != nullptr ? *record : gone_peers;
}

PeerRecord* Upstream::record_of(std::string_view node) {
    if (node.empty()) return nullptr;
    for (std::size_t i = 0; peers && i < peers->peers.size(); ++i)
        if (peers->peers[i].node == node) return &peer_records[i];
    return nullptr;
}

}  // namespace proxy
