#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "protocol/links/link_context.hpp"
#include "protocol/links/publisher_link.hpp"
#include "protocol/links/subscriber_links.hpp"
#include "protocol/membership/membership.hpp"
#include "protocol/membership/peer_finder.hpp"
#include "protocol/net/task_group.hpp"

namespace protocol {

/// The links between this node and its peers in both directions: a PublisherLink to each place
/// where a peer is or may be, and the links that peers have dialled. It reports the nodes that
/// links and look-ups meet to the membership, and carries out the membership's decisions, so that
/// all parts know the same peers by number. Control thread only.
class PeerLinks {
public:
    /// `moved` is called when a peer has confirmed an invalidation, or when a link to one has
    /// ended.
    PeerLinks(LinkContext& context, std::function<void()> moved);

    /// Throws boost::system::system_error with the address in what().
    void bind() { subscriptions_.bind(); }
    /// Takes over the listening socket of `earlier`, instead of bind(). Returns false if `earlier`
    /// listens on none.
    bool bind_in_place_of(PeerLinks& earlier);
    std::uint16_t port() const { return subscriptions_.port(); }

    /// Goes on with the peers of `earlier`, which has stopped, and with its unconfirmed
    /// invalidations. Call it before run().
    void take_over(const PeerLinks& earlier);
    /// Goes on with the invalidations of an earlier instance of this node. Call it before
    /// configure().
    void go_on_from(const KeptInvalidations& earlier);
    /// The invalidations that each peer, and each former peer, has confirmed, by name.
    KeptInvalidations::ConfirmedByNode confirmed() const;
    /// Makes the membership follow the configuration.
    void configure();
    /// Looks up all configured names now.
    void look_now() { finder_.look_now(); }
    /// Begins to dial and, if `listens`, to accept links. Each task keeps `owner` alive.
    void run(TaskGroup& tasks, const std::shared_ptr<void>& owner, bool listens);
    /// Ends all links at once: what they work on may be handed over now. Their coroutines come to
    /// their ends in the event loop, and touch nothing of it before.
    void stop();
    /// Forgets peers that are gone for long. Called at each heartbeat.
    void tidy();

    /// Offers an Announcement or a CheckHash to all peers.
    template <class News>
    void offer(const News& news) {
        for (auto& [contact, publication] : publications_) publication->offer(news);
    }
    /// Wakes all links, after something to send has come.
    void wake();
    /// Sends new invalidations.
    void invalidated();
    void say_goodbye();

    /// Whether the link to this peer is up, and whether any is.
    bool up(std::size_t peer) const;
    bool any_up() const;

    /// Adds the state of peers, places and names, and the counters of links.
    void report(ClusterStatus& status) const;
    /// The last reports of peers.
    std::vector<ReceivedReport> received_reports() const;

private:
    using Contact = Membership::ContactId;

    void follow_membership();
    void follow_peers();
    void follow_contacts();
    void log_unplaced();
    void add_peer(std::size_t number);
    void remove_peer(std::size_t number);
    void forget_former();
    std::shared_ptr<PublisherLink> make_publication(Contact id, const Membership::Contact& from);
    void retire(PublisherLink& publication);
    PublisherLink* publication_to(std::size_t number) const;

    Result<std::size_t> met(Contact id, const std::string& node, const Instance& instance);
    void reached(Contact id, bool is_up);
    std::optional<std::size_t> admit(const std::string& node, const Instance& instance,
                                     const boost::asio::ip::address& from);
    void heard_of(std::size_t number, const Instance& instance);
    void give_up_others(std::size_t number, const Instance& instance);
    void left(std::size_t number);
    LastEnd last_end_of(std::size_t number) const;
    PeerState state_of(std::size_t number, Clock::time_point now) const;
    std::string cause_of(std::size_t number, PeerState state) const;
    std::string why_without_address(std::size_t number) const;
    std::uint64_t cannot_dial(std::size_t number) const;
    const PublisherLink* publication_at(const boost::asio::ip::address& address) const;
    void watch_states();
    void show_places();
    static awaitable<void> publish(std::shared_ptr<void> owner,
                                   std::shared_ptr<PublisherLink> publication);

    LinkContext& context_;
    std::function<void()> moved_;
    /// The state that a peer was last found in, and since when.
    struct Shown {
        PeerState state = PeerState::connecting;
        Clock::time_point since{};
        bool warned = false;
    };
    std::vector<std::string> known_;     // names of the peers that all parts know, by number
    std::vector<Shown> shown_;           // by number
    std::vector<std::string> unplaced_;  // listed peers beyond max_peers that were logged
    std::map<Contact, std::shared_ptr<PublisherLink>> publications_;
    SubscriberLinks subscriptions_;
    PeerFinder finder_;
    KeptInvalidations::ConfirmedByNode former_;                // confirmed by former peers
    ClusterStatus::Peer gone_;                                 // counters of former peers
    std::map<std::size_t, ClusterStatus::Peer> earlier_ways_;  // counters of peers' former places
    std::uint64_t peers_gone_ = 0;
    std::uint64_t followed_ = 0;  // changes of the membership carried out
    TaskGroup* tasks_ = nullptr;  // set by run()
    std::weak_ptr<void> owner_;
    bool stopped_ = false;
};

}  // namespace protocol
