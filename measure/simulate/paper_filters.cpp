#include "measure/simulate/paper_filters.hpp"

#include <utility>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/filter.hpp"
#include "summary/sizing/sizing.hpp"

namespace measure {

PaperFilters::PaperFilters(const KnowledgeInputs& shared)
    : AnnouncedKnowledge(shared, Delivery::later),
      shape_(summary::shape_for_load_factor(shared.expected_objects, shared.config.load_factor,
                                            kHashes)) {
    const summary::Filter empty = summary::BloomFilter(shape_);
    std::vector<summary::Directory::Member> members;
    for (unsigned i = 0; i < shared.config.proxies; ++i) {
        own_.push_back({summary::CountingBloomFilter(shape_), {}});
        members.push_back({i, descriptor_of(shape_), &empty});
    }
    received_.emplace(members);
}

void PaperFilters::advance(TimePoint now) {
    while (!under_way_.empty() && under_way_.front().arrives <= now) {
        auto& update = under_way_.front();
        deliver(update.proxy, update.changes);
        if (!update.delta.empty())
            received_->apply(update.proxy, summary::Change(std::move(update.delta)));
        under_way_.pop_front();
    }
}

void PaperFilters::changed(std::size_t proxy, std::uint32_t object, bool is_stored, TimePoint now) {
    auto& [filter, flips] = own_[proxy];
    const auto hash = shared_.objects.hash(object);
    is_stored ? filter.insert(hash, flips) : filter.erase(hash, flips);
    if (!announced_objects_.has_changed(proxy, shared_.config.announce_changed)) return;
    Update update{now + shared_.config.network.delay, static_cast<unsigned>(proxy),
                  net_effect(std::exchange(flips, {})), announced_objects_.announce(proxy)};
    if (const auto& delta = update.delta; !delta.empty()) {
        const auto peers = shared_.config.proxies - 1;
        announced_.messages += peers;
        announced_.bytes +=
            peers * (kHeadBytes + kFlipBytes * (delta.set.size() + delta.clear.size()));
    }
    under_way_.push_back(std::move(update));
}

summary::PeerSet PaperFilters::candidates(std::size_t proxy, std::uint32_t object) const {
    return received_->candidates(shared_.objects.key(object)) -
           summary::PeerSet{static_cast<unsigned>(proxy)};
}

/// The own bits with counters of 4 bits, as in the paper, and the peers' bits.
std::uint64_t PaperFilters::summary_bytes() const {
    return shape_.bits * 5 / 8 + (shared_.config.proxies - 1) * (shape_.bits / 8);
}

}  // namespace measure
