#include "measure/simulate/make_knowledge.hpp"

#include "measure/simulate/linked_summaries.hpp"
#include "measure/simulate/paper_directories.hpp"
#include "measure/simulate/paper_filters.hpp"
#include "measure/simulate/squid_digests.hpp"
#include "measure/simulate/summaries.hpp"

namespace measure {
namespace {

/// Knows the content of all caches at once, as ICP finds out by querying them.
class PerfectKnowledge final : public Knowledge {
public:
    explicit PerfectKnowledge(const Holders& holders) : holders_(holders) {}

    void advance(TimePoint) override {}
    void stored(std::size_t, std::uint32_t, TimePoint) override {}
    void removed(std::size_t, std::uint32_t, TimePoint) override {}
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override {
        return holders_.of(object) - summary::PeerSet{static_cast<unsigned>(proxy)};
    }
    bool was_announced(std::size_t, std::size_t, std::uint32_t) const override { return true; }
    AnnouncementTotals announced() const override { return {}; }
    std::uint64_t summary_bytes() const override { return 0; }

private:
    const Holders& holders_;
};

}  // namespace

std::unique_ptr<Knowledge> make_knowledge(const KnowledgeInputs& shared, SimulatedLines& lines) {
    switch (shared.config.scheme) {
        case Scheme::none:
        case Scheme::consistent_hashing:
        case Scheme::single_cache:
            return nullptr;
        case Scheme::icp:
            return std::make_unique<PerfectKnowledge>(shared.holders);
        case Scheme::squid_digest:
            return std::make_unique<SquidDigests>(shared);
        case Scheme::exact_directory:
        case Scheme::server_names:
            return std::make_unique<PaperDirectories>(shared);
        case Scheme::paper_bloom:
            return std::make_unique<PaperFilters>(shared);
        case Scheme::summary:
            break;
    }
    if (!shared.config.network.is_even()) return std::make_unique<LinkedSummaries>(shared, lines);
    return std::make_unique<Summaries>(shared);
}

}  // namespace measure
