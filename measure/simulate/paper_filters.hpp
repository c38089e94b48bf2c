#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "measure/simulate/told_knowledge.hpp"
#include "summary/counting_bloom_filter.hpp"
#include "summary/directory.hpp"

namespace measure {

/// The paper's third representation: a Bloom filter of so many bits for each object that a cache
/// may hold, whose flips each proxy tells all others as records of 32 bits, when a part of what it
/// holds has changed. All proxies hear the same, so they share one directory. Source: Fan et al.
/// 2000 §V-B, §VI.
class PaperFilters final : public ToldKnowledge {
public:
    static constexpr unsigned kHashes = 4;
    static constexpr std::uint64_t kHeadBytes = 32, kFlipBytes = 4;

    explicit PaperFilters(const Shared& shared);

    void advance(TimePoint now) override;
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override;
    std::uint64_t summary_bytes() const override;

private:
    struct Update {
        TimePoint arrives;
        unsigned proxy = 0;
        summary::Delta delta;                      // empty: what was told flips no bit
        std::vector<ToldObjects::Change> changes;  // what it tells, object by object
    };
    struct Own {
        summary::CountingBloomFilter filter;
        std::vector<summary::Flip> flips;  // not told yet
    };

    void changed(std::size_t proxy, std::uint32_t object, bool held, TimePoint now) override;

    const summary::Shape shape_;
    std::vector<Own> own_;
    std::optional<summary::Directory> heard_;
    std::deque<Update> under_way_;
};

}  // namespace measure
