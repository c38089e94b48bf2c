#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "measure/simulate/due_step.hpp"
#include "measure/simulate/published_knowledge.hpp"
#include "measure/simulate/received_summaries.hpp"
#include "summary/directory/replica.hpp"

namespace measure {

/// hearsay's summaries in an even network, where all proxies receive the same at the same time.
/// Production publishers make the announcements. One replica and one directory decode and apply
/// each announcement once, on behalf of all proxies. Heartbeats and check-hashes are left out,
/// since no message is lost.
class Summaries final : public PublishedKnowledge {
public:
    explicit Summaries(const KnowledgeInputs& shared);

    void advance(TimePoint now) override;
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override;
    std::uint64_t summary_bytes() const override;

private:
    struct Update {
        TimePoint arrives;
        unsigned proxy = 0;
        protocol::Announcement announcement;
        std::shared_ptr<const protocol::SnapshotImage> image;  // in place of a delta
        std::vector<AnnouncedObjects::Change> changes;  // the announced changes, object by object
    };

    void offer(std::size_t proxy, const protocol::Announcement& announcement,
               TimePoint now) override;
    void wake(std::size_t proxy, TimePoint at) override;
    void take(const Update& update);

    std::vector<summary::Replica> replicas_;  // by proxy
    ReceivedSummaries received_;
    DueQueue due_;
    std::deque<Update> under_way_;
};

}  // namespace measure
