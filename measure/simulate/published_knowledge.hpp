#pragma once

#include <memory>
#include <vector>

#include "measure/simulate/announced_knowledge.hpp"
#include "protocol/publishing/publisher.hpp"

namespace measure {

/// hearsay's summaries, independent of their delivery: a production publisher for each proxy
/// announces when its announcement is due. Work that a node does in slices is instant here.
/// Decoding always succeeds, since every message was encoded here.
class PublishedKnowledge : public AnnouncedKnowledge {
public:
    void set_error(std::size_t proxy, double error, TimePoint now) final;

protected:
    PublishedKnowledge(const KnowledgeInputs& shared, Delivery delivery);

    /// Sends an announcement to all others.
    virtual void offer(std::size_t proxy, const protocol::Announcement& announcement,
                       TimePoint now) = 0;
    /// Schedules one call of awake() at this time.
    virtual void wake(std::size_t proxy, TimePoint at) = 0;

    void awake(std::size_t proxy, TimePoint now);
    void finish_work(std::size_t proxy, TimePoint now);
    /// Restarts a proxy with an empty cache, as a new run with new epochs.
    void begin_anew(std::size_t proxy, TimePoint now);

    protocol::Publisher& publisher(std::size_t proxy) { return *proxies_[proxy].publisher; }
    const protocol::Publisher& publisher(std::size_t proxy) const {
        return *proxies_[proxy].publisher;
    }

private:
    struct Proxy {
        std::unique_ptr<protocol::Publisher> publisher;
        std::uint64_t first_epoch = 0;  // of its run
        bool timed = false;             // a call of awake() is scheduled
    };

    void changed(std::size_t proxy, std::uint32_t object, bool is_stored, TimePoint now) final;
    void see_to_announcement(std::size_t proxy, TimePoint now);

    std::vector<Proxy> proxies_;
};

}  // namespace measure
