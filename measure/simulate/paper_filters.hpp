#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "measure/simulate/announced_knowledge.hpp"
#include "summary/directory/directory.hpp"
#include "summary/filters/counting_bloom_filter.hpp"

namespace measure {

/// The paper's third representation: a Bloom filter with so many bits for each object that a cache
/// may hold. Each proxy announces its flips to all others as records of 32 bits after a share of
/// its objects has changed. All proxies receive the same, so they share one directory. Source: Fan
/// et al. 2000 §V-B, §VI.
class PaperFilters final : public AnnouncedKnowledge {
public:
    static constexpr unsigned kHashes = 4;
    static constexpr std::uint64_t kHeadBytes = 32, kFlipBytes = 4;

    explicit PaperFilters(const KnowledgeInputs& shared);

    void advance(TimePoint now) override;
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override;
    std::uint64_t summary_bytes() const override;

private:
    struct Update {
        TimePoint arrives;
        unsigned proxy = 0;
        summary::Delta delta;  // empty if the announced changes flip no bit
        std::vector<AnnouncedObjects::Change> changes;  // the announced changes, object by object
    };
    struct OwnFilter {
        summary::CountingBloomFilter filter;
        std::vector<summary::Flip> flips;  // still to be announced
    };

    void changed(std::size_t proxy, std::uint32_t object, bool is_stored, TimePoint now) override;

    const summary::Shape shape_;
    std::vector<OwnFilter> own_;
    std::optional<summary::Directory> received_;
    std::deque<Update> under_way_;
};

}  // namespace measure
