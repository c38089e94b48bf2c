#include "measure/simulate/summaries.hpp"

#include <cassert>
#include <utility>

#include "protocol/wire/codec.hpp"
#include "protocol/wire/frame.hpp"
#include "summary/coding/judge.hpp"
#include "summary/coding/snapshot_reader.hpp"

namespace measure {

namespace {

/// Bytes of a message on a link, with its frame.
std::uint64_t frame_bytes(const protocol::Message& message) {
    protocol::Bytes body;
    encode_body(message, body);
    return protocol::kTaggedOverheadBytes + body.size();
}

/// Bytes of a whole snapshot: its start and its parts.
std::uint64_t frame_bytes(const protocol::SnapshotImage& image) {
    const auto payload = image.payload.size();
    const auto parts = (payload + protocol::kSnapshotPartBytes - 1) / protocol::kSnapshotPartBytes;
    return frame_bytes(protocol::Message(image.begin)) +
           parts * frame_bytes(protocol::Message(protocol::SnapshotPart{})) + payload;
}

}  // namespace

Summaries::Summaries(const KnowledgeInputs& shared)
    : PublishedKnowledge(shared, Delivery::later),
      replicas_(shared.config.proxies),
      received_(shared.config.proxies) {
    for (std::size_t i = 0; i < replicas_.size(); ++i)
        offer(i, {}, shared.start);  // links begin with a snapshot
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
        awake(proxy, due);
    }
}

void Summaries::wake(std::size_t proxy, TimePoint at) {
    due_.push({at, static_cast<unsigned>(proxy)});
}

void Summaries::offer(std::size_t proxy, const protocol::Announcement& announcement,
                      TimePoint now) {
    Update update{now + shared_.config.network.delay, static_cast<unsigned>(proxy), announcement,
                  nullptr, announced_objects_.announce(proxy)};
    const auto peers = shared_.config.proxies - 1;
    announced_.messages += peers;
    if (announcement.delta) {
        announced_.bytes +=
            peers * frame_bytes(protocol::Delta{announcement.epoch, announcement.generation,
                                                *announcement.delta});
    } else {
        update.image = publisher(proxy).snapshot();
        announced_.snapshots += peers;
        announced_.bytes += peers * frame_bytes(*update.image);
    }
    under_way_.push_back(std::move(update));
}

void Summaries::take(const Update& update) {
    auto& replica = replicas_[update.proxy];
    if (update.image != nullptr) {
        const auto& begin = update.image->begin;
        summary::SnapshotReader reader(begin.summary);
        reader.take(update.image->payload);
        replica.apply_snapshot(begin.epoch, begin.generation, *reader.finish());
        received_.load(update.proxy, replica.filter());
        received_.settle(update.proxy, replica);
    } else {
        const auto& sent = update.announcement;
        const auto done = replica.apply_delta(sent.epoch, sent.generation, *sent.delta);
        assert(done.change);
        if (replica.keeper() == nullptr) received_.apply(update.proxy, *done.change);
    }
    deliver(update.proxy, update.changes);
}

summary::PeerSet Summaries::candidates(std::size_t proxy, std::uint32_t object) const {
    return received_.candidates(shared_.objects.key(object)) -
           summary::PeerSet{static_cast<unsigned>(proxy)};
}

/// Its own summary, the directory, and the replicas of peers that the directory does not hold.
std::uint64_t Summaries::summary_bytes() const {
    std::uint64_t bytes = received_.memory_bytes() + publisher(0).own().memory_bytes();
    for (std::size_t i = 1; i < replicas_.size(); ++i)
        if (const auto& replica = replicas_[i]; replica.keeper() == nullptr)
            bytes += summary::replica_bytes(replica.descriptor()).value_or(0);
    return bytes;
}

}  // namespace measure
