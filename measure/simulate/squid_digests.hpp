#pragma once

#include "measure/simulate/announced_knowledge.hpp"
#include "measure/simulate/due_step.hpp"
#include "summary/directory/directory.hpp"
#include "summary/filters/bloom_filter.hpp"

namespace measure {

/// Squid's default: each proxy makes a digest of its objects once an hour, at a time of its own,
/// and all others fetch it whole. Source: Hamilton, Rousskov, Wessels, Cache Digest specification,
/// version 5 (1998).
class SquidDigests final : public AnnouncedKnowledge {
public:
    static constexpr std::uint64_t kHeadBytes = 128, kBitsPerObject = 5;
    static constexpr unsigned kHashes = 4;
    static constexpr std::chrono::hours kPeriod{1};

    explicit SquidDigests(const KnowledgeInputs& shared);

    void advance(TimePoint now) override;
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override;
    std::uint64_t summary_bytes() const override;

private:
    void make_digest(unsigned proxy);

    const summary::Shape shape_;
    summary::Directory received_;
    DueQueue due_;
};

}  // namespace measure
