#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/error.hpp"
#include "base/net/listener.hpp"
#include "protocol/links/cluster_status.hpp"
#include "protocol/links/former_peers.hpp"
#include "protocol/links/peer_dialer.hpp"
#include "protocol/links/peer_states.hpp"
#include "protocol/links/peering_services.hpp"
#include "protocol/links/subscriber_end.hpp"
#include "protocol/membership/membership.hpp"
#include "protocol/membership/peer_finder.hpp"

namespace protocol {

/// The links between this node and its peers in both directions: a PeerDialer for each place
/// where a peer is or may be, and the links that peers have dialled, each a SubscriberEnd. It
/// reports the nodes that links and look-ups meet to the membership, and carries out the
/// membership's decisions, so that all parts know the same peers by number. Control thread only.
class PeerLinks final : private PeerDialer::Owner, private PeerFeeds::Owner {
public:
    /// `peering` outlives the links.
    explicit PeerLinks(PeeringServices& peering);
    PeerLinks(const PeerLinks&) = delete;
    PeerLinks& operator=(const PeerLinks&) = delete;

    /// Throws boost::system::system_error with the address in what().
    void bind();
    /// Takes over the listening socket of `earlier`, instead of bind(). Returns false if `earlier`
    /// listens on none.
    bool bind_in_place_of(PeerLinks& earlier);
    std::uint16_t port() const { return listener_.port(); }

    /// Goes on with the peers of `earlier`, which has stopped, and with its unconfirmed
    /// invalidations. Call it before run().
    void take_over(const PeerLinks& earlier);
    /// Goes on with the invalidations of an earlier instance of this node. Call it before
    /// configure().
    void go_on_from(const InvalidationBacklog& earlier);
    /// The invalidations that each peer, and each former peer, has confirmed, by name.
    InvalidationBacklog::ConfirmedByNode confirmed() const;
    /// Makes the membership follow the configuration.
    void configure();
    /// Looks up all configured names now.
    void look_now() { finder_.look_now(); }
    /// Begins to dial and, if `listens`, to accept links.
    void run(bool listens);
    /// Ends all links at once: what they work on may be handed over now. Their coroutines come to
    /// their ends in the event loop, and touch nothing of it before.
    void stop();
    /// Forgets peers that are gone for long. Called at each heartbeat.
    void tidy();

    void say_goodbye();

    /// Adds the state of peers, places and names, and the counters of links.
    void add_to(ClusterStatus& status) const;
    /// The last reports of peers.
    std::vector<ReceivedReport> received_reports() const;

private:
    using Contact = Membership::ContactId;

    void follow_membership();
    void follow_peers();
    void follow_contacts();
    void log_unplaced();
    void show_places();
    void add_peer(std::size_t number);
    void remove_peer(std::size_t number);

    // Links to peers.
    void spawn(const std::shared_ptr<PeerDialer>& dialer);
    void retire(PeerDialer& dialer);
    // PeerDialer::Owner
    base::Result<std::size_t> met(Contact at, const std::string& node,
                                  const Instance& instance) override;
    void met_self(Contact at) override;
    void reached(Contact at, bool is_up) override;
    void give_up_others(std::size_t number, const Instance& instance);

    // Links from peers.
    base::awaitable<void> listen();
    base::awaitable<void> serve(boost::asio::ip::tcp::socket socket);
    void note_end(const SubscriberEnd& end, const std::string& remote,
                  const boost::system::error_code& error);
    // PeerFeeds::Owner
    std::optional<std::size_t> admit(const std::string& node, const Instance& instance,
                                     const boost::asio::ip::address& from) override;
    void heard_of(std::size_t number, const Instance& instance) override;
    void left(std::size_t number) override;
    void in_sync(std::size_t number, std::uint64_t objects,
                 const summary::Description& summary) override;

    PeeringServices& peering_;
    std::vector<std::string> known_;     // names of the peers that all parts know, by number
    std::vector<std::string> unplaced_;  // listed peers beyond max_peers that were logged
    PeerFeeds feeds_;
    base::Listener listener_;
    PeerFinder finder_;
    PeerStates states_;
    FormerPeers former_;
    std::map<std::size_t, ClusterStatus::Peer> earlier_ways_;  // counters of peers' former places
    std::uint64_t followed_ = 0;  // changes of the membership carried out
    bool running_ = false, stopped_ = false;
};

}  // namespace protocol
