#pragma once

#include <memory>
#include <vector>

#include "measure/simulate/told_knowledge.hpp"
#include "protocol/publishing/publisher.hpp"

namespace measure {

/// Our summaries, however they are heard: a production publisher for each proxy, which announces
/// when that is due. What takes a node several slices takes no time here. What is decoded here was
/// encoded here, so nobody asks whether it can be.
class PublishedKnowledge : public ToldKnowledge {
public:
    void set_error(std::size_t proxy, double error, TimePoint now) final;

protected:
    PublishedKnowledge(const Shared& shared, Hears hears);

    /// To be told to all others.
    virtual void offer(std::size_t proxy, const protocol::Announcement& announcement,
                       TimePoint now) = 0;
    /// awake() is to be called at this time, once.
    virtual void wake(std::size_t proxy, TimePoint at) = 0;

    void awake(std::size_t proxy, TimePoint now);
    void finish_work(std::size_t proxy, TimePoint now);
    /// With nothing stored, and as a new run, whose epochs are others.
    void begin_anew(std::size_t proxy, TimePoint now);

    protocol::Publisher& publisher(std::size_t proxy) { return *proxies_[proxy].publisher; }
    const protocol::Publisher& publisher(std::size_t proxy) const {
        return *proxies_[proxy].publisher;
    }

private:
    struct Proxy {
        std::unique_ptr<protocol::Publisher> publisher;
        std::uint64_t first_epoch = 0;  // of its run
        bool timed = false;             // awake() will be called
    };

    void changed(std::size_t proxy, std::uint32_t object, bool held, TimePoint now) final;
    void see_to_announcement(std::size_t proxy, TimePoint now);

    std::vector<Proxy> proxies_;
};

}  // namespace measure
