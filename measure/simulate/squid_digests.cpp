#include "measure/simulate/squid_digests.hpp"

#include <algorithm>

#include "measure/trace/splitmix.hpp"
#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/filter.hpp"

namespace measure {
namespace {

summary::Shape shape_for(std::uint64_t objects) {
    return {std::max<std::uint64_t>(objects, 1) * SquidDigests::kBitsPerObject,
            SquidDigests::kHashes};
}

std::vector<summary::Directory::Member> members_of(std::size_t proxies, summary::Shape shape) {
    std::vector<summary::Directory::Member> members;
    for (unsigned i = 0; i < proxies; ++i) members.push_back({i, descriptor_of(shape), nullptr});
    return members;
}

}  // namespace

SquidDigests::SquidDigests(const KnowledgeInputs& shared)
    : AnnouncedKnowledge(shared, Delivery::at_once),
      shape_(shape_for(shared.expected_objects)),
      received_(members_of(shared.config.proxies, shape_)) {
    SplitMix random(shared.config.seed);
    const auto period = std::chrono::duration_cast<std::chrono::nanoseconds>(kPeriod);
    for (unsigned i = 0; i < shared.config.proxies; ++i) {
        const auto phase = random.below(static_cast<std::uint64_t>(period.count()));
        due_.push({shared.start + std::chrono::nanoseconds(phase), i});
    }
}

void SquidDigests::advance(TimePoint now) {
    // A digest is fetched within the delay, which is negligible after an hour.
    while (due_.top().at <= now) {
        const auto [at, proxy] = due_.top();
        due_.pop();
        due_.push({at + kPeriod, proxy});
        const auto peers = shared_.config.proxies - 1;
        announced_.messages += peers;
        announced_.snapshots += peers;
        announced_.bytes += peers * (kHeadBytes + (shape_.bits + 7) / 8);
        if (!announced_objects_.is_all_announced(proxy) || !received_.is_active(proxy))
            make_digest(proxy);
    }
}

void SquidDigests::make_digest(unsigned proxy) {
    announced_objects_.announce(proxy);
    summary::BloomFilter digest(shape_);
    for (std::uint32_t object = 0; object < shared_.objects.size(); ++object)
        if (shared_.holders.has(object, proxy)) digest.insert(shared_.objects.hash(object));
    received_.load(proxy, digest);
}

summary::PeerSet SquidDigests::candidates(std::size_t proxy, std::uint32_t object) const {
    return received_.candidates(shared_.objects.key(object)) -
           summary::PeerSet{static_cast<unsigned>(proxy)};
}

/// Its own digest and its peers'.
std::uint64_t SquidDigests::summary_bytes() const {
    return shared_.config.proxies * ((shape_.bits + 7) / 8);
}

}  // namespace measure
