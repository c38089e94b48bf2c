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

/// The links between this node and its peers, both directions, as the membership has it: a
/// PublisherLink to each place where a peer is or may be, and what peers have dialled. Whom links
/// and look-ups meet it tells the membership; what the membership makes of that it carries out, so
/// that everything that goes by a peer's number knows of the same peers. Control thread only.
class PeerLinks {
public:
    /// `moved`: a peer has confirmed something, or a link to one has ended.
    PeerLinks(LinkContext& context, std::function<void()> moved);

    /// Throws boost::system::system_error with the address in what().
    void bind() { subscriptions_.bind(); }
    /// Instead, where `earlier` listens: with its socket. False if it does not.
    bool bind_in_place_of(PeerLinks& earlier);
    std::uint16_t port() const { return subscriptions_.port(); }

    /// Before run(): goes on with the peers of `earlier`, which has stopped, and with what they
    /// have not confirmed.
    void take_over(const PeerLinks& earlier);
    /// Before configure(): goes on from what an earlier run of this node has kept.
    void go_on_from(const KeptInvalidations& earlier);
    /// How far they are with what this node has invalidated: peers, and those that were, by name.
    KeptInvalidations::ConfirmedByNode confirmed() const;
    /// From now on the peers are those that the configuration says.
    void configure();
    /// All names of the configuration, now.
    void look_now() { finder_.look_now(); }
    /// Begins to dial and, if it `listens`, to be dialled. `owner` is kept alive by each task.
    void run(TaskGroup& tasks, const std::shared_ptr<void>& owner, bool listens);
    void stop();
    /// Forgets who is gone. To be called now and then.
    void tidy();

    /// To all peers: an Announcement or a CheckHash.
    template <class News>
    void offer(const News& news) {
        for (auto& [contact, publication] : publications_) publication->offer(news);
    }
    /// There may be something to send.
    void wake();
    /// Something was added to the invalidations.
    void invalidated();
    void say_goodbye();

    /// Our link to this peer is up; to any.
    bool up(std::size_t peer) const;
    bool any_up() const;

    /// Adds what is known of peers, places and names, and what links have counted.
    void report(ClusterStatus& status) const;

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
    /// How a peer was found last time, and since when that is so.
    struct Shown {
        PeerState state = PeerState::connecting;
        Clock::time_point since{};
        bool warned = false;
    };
    std::vector<std::string> known_;     // peers that everything else knows of, by number
    std::vector<Shown> shown_;           // as known_
    std::vector<std::string> unplaced_;  // listed ones without room that the log was told of
    std::map<Contact, std::shared_ptr<PublisherLink>> publications_;
    SubscriberLinks subscriptions_;
    PeerFinder finder_;
    KeptInvalidations::ConfirmedByNode former_;  // what those have confirmed that were peers once
    ClusterStatus::Peer gone_;                   // what those counted
    std::map<std::size_t, ClusterStatus::Peer> earlier_ways_;  // to peers, where they are no more
    std::uint64_t peers_gone_ = 0;
    std::uint64_t followed_ = 0;  // changes of the membership
    TaskGroup* tasks_ = nullptr;  // once it runs
    std::weak_ptr<void> owner_;
    bool stopped_ = false;
};

}  // namespace protocol
