#pragma once

#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "measure/simulate/heard_summaries.hpp"
#include "measure/simulate/told_knowledge.hpp"
#include "protocol/publisher.hpp"
#include "summary/replica.hpp"

namespace measure {

/// The publisher of a simulated proxy, as a node would have it.
protocol::Publisher::Config publisher_config(const SimulationConfig& config);
/// What a message weighs on a link, frame and all.
std::uint64_t frame_bytes(const protocol::Message& message);
/// A whole snapshot: its begin and its parts.
std::uint64_t frame_bytes(const protocol::SnapshotImage& image);

/// Our summaries in an even network, where all others hear the same at the same time: production
/// publishers, whose announcements are decoded and applied once, into one replica and one directory
/// that stand for everybody's. Heartbeats and check-hashes are left out, as nothing is ever lost.
class Summaries final : public ToldKnowledge {
public:
    explicit Summaries(const Shared& shared);

    void advance(TimePoint now) override;
    void set_error(std::size_t proxy, double error, TimePoint now) override;
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override;
    bool was_told(std::size_t proxy, std::size_t peer, std::uint32_t object) const override;
    std::uint64_t summary_bytes() const override;

private:
    struct Proxy {
        std::unique_ptr<protocol::Publisher> publisher;
        summary::Replica replica;
        bool timed = false;  // there is a Due
    };
    struct Due {
        TimePoint at;
        unsigned proxy = 0;
        bool operator>(const Due& other) const {
            return at != other.at ? at > other.at : proxy > other.proxy;
        }
    };
    struct Change {
        std::uint32_t object = 0;
        bool held = false;
    };
    struct Update {
        TimePoint arrives;
        unsigned proxy = 0;
        protocol::Announcement announcement;
        std::shared_ptr<const protocol::SnapshotImage> image;  // in place of a delta
        std::vector<Change> changes;                           // what it tells, object by object
    };

    void changed(std::size_t proxy, std::uint32_t object, bool held, TimePoint now) override;
    void see_to_announcement(unsigned proxy, TimePoint now);
    void announce(unsigned proxy, TimePoint now);
    void finish_work(unsigned proxy, TimePoint now);
    void send(unsigned proxy, protocol::Announcement announcement, TimePoint now);
    void take(const Update& update);

    std::vector<Proxy> proxies_;
    HeardSummaries heard_;
    Holders heard_objects_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::deque<Update> under_way_;
};

}  // namespace measure
