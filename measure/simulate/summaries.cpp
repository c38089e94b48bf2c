#include "measure/simulate/summaries.hpp"

#include <cassert>
#include <utility>

#include "protocol/codec.hpp"
#include "protocol/frame.hpp"
#include "summary/judge.hpp"
#include "summary/snapshot_reader.hpp"

namespace measure {

protocol::Publisher::Config publisher_config(const SimulationConfig& config) {
    protocol::Publisher::Config result;
    result.summary.kind = config.kind;
    result.summary.error = summary::error_per_summary(config.false_hit_budget, config.proxies - 1);
    result.announce_changed = config.announce_changed;
    result.announce_delay = config.announce_delay;
    return result;
}

std::uint64_t frame_bytes(const protocol::Message& message) {
    protocol::Bytes body;
    encode_body(message, body);
    return protocol::kTaggedOverheadBytes + body.size();
}

std::uint64_t frame_bytes(const protocol::SnapshotImage& image) {
    const auto payload = image.payload.size();
    const auto parts = (payload + protocol::kSnapshotPartBytes - 1) / protocol::kSnapshotPartBytes;
    return frame_bytes(protocol::Message(image.begin)) +
           parts * frame_bytes(protocol::Message(protocol::SnapshotPart{})) + payload;
}

Summaries::Summaries(const Shared& shared)
    : ToldKnowledge(shared),
      heard_(shared.config.proxies),
      heard_objects_(shared.objects.size(), shared.config.proxies) {
    const auto config = publisher_config(shared.config);
    for (unsigned i = 0; i < shared.config.proxies; ++i) {
        proxies_.push_back({std::make_unique<protocol::Publisher>(config, shared.start), {}});
        send(i, {}, shared.start);  // links begin with a snapshot
    }
}

void Summaries::advance(TimePoint now) {
    for (;;) {
        const auto arrives = under_way_.empty() ? TimePoint::max() : under_way_.front().arrives;
        const auto due = due_.empty() ? TimePoint::max() : due_.top().at;
        if (std::min(arrives, due) > now) return;
        if (arrives <= due) {
            take(under_way_.front());
            under_way_.pop_front();
            continue;
        }
        const auto proxy = due_.top().proxy;
        due_.pop();
        proxies_[proxy].timed = false;
        see_to_announcement(proxy, due);
    }
}

void Summaries::changed(std::size_t proxy, std::uint32_t object, bool held, TimePoint now) {
    auto& publisher = *proxies_[proxy].publisher;
    const auto entry = shared_.objects.entry(object);
    held ? publisher.stored(entry, now) : publisher.removed(entry, now);
    see_to_announcement(static_cast<unsigned>(proxy), now);
}

/// Announces when that is due, or sees to it that it will be.
void Summaries::see_to_announcement(unsigned index, TimePoint now) {
    auto& proxy = proxies_[index];
    auto due = proxy.publisher->announce_due();
    while (due && *due <= now) {
        announce(index, now);
        due = proxy.publisher->announce_due();
    }
    if (!due || proxy.timed) return;
    proxy.timed = true;
    due_.push({*due, index});
}

void Summaries::announce(unsigned index, TimePoint now) {
    auto& publisher = *proxies_[index].publisher;
    if (auto announcement = publisher.announce(now)) send(index, std::move(*announcement), now);
    finish_work(index, now);
}

void Summaries::finish_work(unsigned index, TimePoint now) {
    auto& publisher = *proxies_[index].publisher;
    while (publisher.busy())
        if (auto announcement = publisher.work()) send(index, std::move(*announcement), now);
}

void Summaries::set_error(std::size_t proxy, double error, TimePoint now) {
    proxies_[proxy].publisher->set_error(error);
    finish_work(static_cast<unsigned>(proxy), now);
}

void Summaries::send(unsigned proxy, protocol::Announcement announcement, TimePoint now) {
    Update update{now + shared_.config.network.delay, proxy, std::move(announcement), nullptr, {}};
    told_.tell(proxy, [&](std::uint32_t object, bool held) {
        update.changes.push_back({object, held});
    });
    const auto peers = shared_.config.proxies - 1;
    const auto& sent = update.announcement;
    announced_.messages += peers;
    if (sent.delta) {
        announced_.bytes +=
            peers * frame_bytes(protocol::Delta{sent.epoch, sent.generation, *sent.delta});
    } else {
        update.image = proxies_[proxy].publisher->snapshot();
        announced_.snapshots += peers;
        announced_.bytes += peers * frame_bytes(*update.image);
    }
    under_way_.push_back(std::move(update));
}

void Summaries::take(const Update& update) {
    auto& replica = proxies_[update.proxy].replica;
    if (update.image != nullptr) {
        const auto& begin = update.image->begin;
        summary::SnapshotReader reader(begin.summary);
        reader.take(update.image->payload);
        replica.apply_snapshot(begin.epoch, begin.generation, *reader.finish());
        heard_.load(update.proxy, replica.filter());
        heard_.settle(update.proxy, replica);
    } else {
        const auto& sent = update.announcement;
        const auto done = replica.apply_delta(sent.epoch, sent.generation, *sent.delta);
        assert(done.change);
        if (replica.holder() == nullptr) heard_.apply(update.proxy, *done.change);
    }
    for (const auto& [object, held] : update.changes)
        heard_objects_.set(object, update.proxy, held);
}

summary::PeerSet Summaries::candidates(std::size_t proxy, std::uint32_t object) const {
    return heard_.candidates(shared_.objects.key(object)) -
           summary::PeerSet{static_cast<unsigned>(proxy)};
}

bool Summaries::was_told(std::size_t, std::size_t peer, std::uint32_t object) const {
    return heard_objects_.has(object, peer);
}

/// Its own summary, the peers' replicas as far as they are not in the directory, and that.
std::uint64_t Summaries::summary_bytes() const {
    std::uint64_t bytes = heard_.memory_bytes() + proxies_.front().publisher->own().memory_bytes();
    for (std::size_t i = 1; i < proxies_.size(); ++i)
        if (const auto& replica = proxies_[i].replica; replica.holder() == nullptr)
            bytes += summary::replica_bytes(replica.descriptor()).value_or(0);
    return bytes;
}

}  // namespace measure
