#include "measure/simulate/received_summaries.hpp"

#include <algorithm>

#include "summary/coding/filter.hpp"

namespace measure {

ReceivedSummaries::ReceivedSummaries(std::size_t proxies) : proxies_(proxies), places_(proxies) {}

summary::Directory& ReceivedSummaries::directory_for(const summary::Descriptor& of) {
    const auto same =
        std::find_if(sorts_.begin(), sorts_.end(), [&](const Sort& sort) { return sort.of == of; });
    if (same != sorts_.end()) return *same->directory;
    std::vector<summary::Directory::Member> members;
    for (unsigned i = 0; i < proxies_; ++i) members.push_back({i, of, nullptr});
    sorts_.push_back({of, std::make_unique<summary::Directory>(members)});
    return *sorts_.back().directory;
}

void ReceivedSummaries::load(unsigned peer, const summary::Filter& filter) {
    auto& directory = directory_for(descriptor_of(filter));
    if (places_[peer] != &directory) {
        drop(peer);
        places_[peer] = &directory;
        for (auto& sort : sorts_)
            if (sort.directory.get() == &directory) ++sort.counting;
    }
    directory.load(peer, filter);
}

void ReceivedSummaries::settle(unsigned peer, summary::Replica& replica) {
    auto* const place = places_[peer];
    if (place != nullptr && place->keeps_filter(peer)) replica.move_to(*place, peer);
}

void ReceivedSummaries::apply(unsigned peer, const summary::Change& change) {
    if (places_[peer] != nullptr) places_[peer]->apply(peer, change);
}

void ReceivedSummaries::drop(unsigned peer) {
    auto*& place = places_[peer];
    if (place == nullptr) return;
    place->drop(peer);
    std::erase_if(
        sorts_, [&](Sort& sort) { return sort.directory.get() == place && --sort.counting == 0; });
    place = nullptr;
}

summary::PeerSet ReceivedSummaries::candidates(const summary::Key& key) const {
    summary::PeerSet result;
    for (const auto& sort : sorts_) result |= sort.directory->candidates(key);
    return result;
}

std::uint64_t ReceivedSummaries::memory_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& sort : sorts_) bytes += sort.directory->memory_bytes();
    return bytes;
}

}  // namespace measure
