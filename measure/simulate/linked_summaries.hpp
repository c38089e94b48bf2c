#pragma once

#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "measure/simulate/network.hpp"
#include "measure/simulate/published_knowledge.hpp"
#include "measure/simulate/received_summaries.hpp"
#include "protocol/links/sync_session.hpp"
#include "protocol/membership/peering_config.hpp"
#include "protocol/publishing/outbox.hpp"
#include "protocol/wire/codec.hpp"

namespace measure {

/// hearsay's summaries in a network where proxies receive announcements at different times. Each
/// ordered pair of proxies has a link, with the production outbox at one end and the production
/// sync session at the other; each proxy has a directory. Messages arrive in order, as on TCP.
/// Messages held up by a partition follow after it, unless silence has ended the link. Deltas lost
/// in the network never enter the outbox. Only heartbeats that can change something are simulated:
/// those sent while one end is behind the other.
class LinkedSummaries final : public PublishedKnowledge {
public:
    LinkedSummaries(const KnowledgeInputs& shared, SimulatedLines& lines);

    void advance(TimePoint now) override;
    void restarted(std::size_t proxy, TimePoint now) override;
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override;
    bool was_announced(std::size_t proxy, std::size_t peer, std::uint32_t object) const override;
    std::uint64_t summary_bytes() const override;

private:
    /// From a publisher to a subscriber.
    struct Link {
        std::size_t from = 0, to = 0;
        std::optional<protocol::Outbox> outbox;  // while the link is up
        std::optional<protocol::SyncSession> session;
        std::uint64_t instance = 0;  // messages of an earlier instance are lost
        bool beats = false;          // the next heartbeat is scheduled
        TimePoint there{}, back{};   // arrival of the last message in each direction
    };
    struct Event {
        enum class What : std::uint8_t { announce, there, back, beat, up, down };

        TimePoint at;
        std::uint64_t number = 0;  // order of creation
        What what = What::announce;
        std::size_t of = 0;          // proxy, or link
        std::uint64_t instance = 0;  // of the link
        std::uint8_t type = 0;       // of the frame
        std::shared_ptr<const protocol::Bytes> body;

        bool operator>(const Event& other) const {
            return at != other.at ? at > other.at : number > other.number;
        }
    };

    using Duration = SimulatedLines::Duration;

    Link& link(std::size_t from, std::size_t to) { return links_[from * received_.size() + to]; }
    const Link& link(std::size_t from, std::size_t to) const {
        return links_[from * received_.size() + to];
    }
    Duration up_to(Duration most);

    void add(Event event);
    void add(Event::What what, std::size_t of, TimePoint at);
    void handle(const Event& event);
    void offer(std::size_t proxy, const protocol::Announcement& announcement,
               TimePoint now) override;
    void wake(std::size_t proxy, TimePoint at) override;

    bool is_behind(const Link& link) const;
    void speak(Link& link, TimePoint now);
    void answer(Link& link, TimePoint now);
    void see_to_beats(Link& link, TimePoint now);
    void send(Link& link, Event::What way, const protocol::Message& message, TimePoint now);
    void receive(Link& link, const Event& event, TimePoint now);
    void go_up(Link& link, TimePoint now);
    void go_down(Link& link);

    SimulatedLines& lines_;
    const protocol::Timings timings_;
    const Duration beat_;
    SplitMix random_;
    std::vector<ReceivedSummaries> received_;  // by each proxy
    std::vector<Link> links_;                  // by from and to
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t events_made_ = 0;
};

}  // namespace measure
