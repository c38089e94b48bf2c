#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/deadline.hpp"
#include "protocol/links/cluster_status.hpp"
#include "protocol/links/peer_links.hpp"
#include "protocol/links/peering_services.hpp"
#include "protocol/publishing/invalidation_backlog.hpp"
#include "summary/sizing/error_control.hpp"
#include "summary/sizing/key_hash.hpp"

namespace protocol {

/// This node's part in the cluster. It announces its summary to each peer, and keeps a replica of
/// each peer's summary. It publishes on links that it dials, and follows peers on links that they
/// dial; each link has one direction. The set of peers may change (Membership). A node alone keeps
/// only its own summary.
///
/// The cluster drives the publisher. It passes stored and removed keys to the publisher, and sends
/// due announcements to the links. It does long work on summaries and the directory in slices, one
/// in each turn of the event loop, so links and invalidations go on in between.
///
/// A shared_ptr owns it, because its coroutines share it until they end; the owner calls stop()
/// before it lets go. All functions run on the control thread, the one that runs `control`. Trouble
/// with a peer costs that peer its link and is logged; after start() all functions leave trouble to
/// the log.
class Cluster : public std::enable_shared_from_this<Cluster> {
public:
    /// Throws std::invalid_argument for a configuration that cannot work, such as a short key, two
    /// peers of one name, or peers and no key.
    Cluster(boost::asio::io_context& control, PeeringConfig config, ClusterHooks hooks);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// Binds the link port and begins to dial. Throws boost::system::system_error, which names the
    /// address, when the port cannot be bound.
    void start();

    /// Takes the unconfirmed invalidations of an earlier instance of this node, which peers then
    /// get. Call it before start(). Precondition: the earlier instance hashed keys in the same way.
    void go_on_from(const InvalidationBacklog& earlier) { links_.go_on_from(earlier); }
    /// The invalidations for the next instance. With many of them this takes some milliseconds, so
    /// the caller adds later calls of invalidate() to the result itself.
    InvalidationBacklog kept_invalidations() const;
    /// The member `confirmed` of kept_invalidations() alone.
    InvalidationBacklog::ConfirmedByNode confirmed_by_node() const { return links_.confirmed(); }

    /// Starts in place of `earlier`, as the same instance of this node: with its keys, its
    /// unconfirmed invalidations and its link port, which stays open. Links begin anew, each with a
    /// snapshot. Precondition: the same node, link address and key hash.
    void start_in_place_of(Cluster& earlier);

    /// Replaces the listed peers and the names that lead to more. A remaining peer keeps its links.
    /// Throws std::invalid_argument as the constructor does, and then changes nothing.
    void set_peers(std::vector<PeerConfig> listed, std::vector<DnsPeers> names);

    /// Port of the link listener, for tests that bind port 0; 0 while the node listens on none.
    std::uint16_t link_port() const { return links_.port(); }

    /// Hashes keys in the way of this cluster. The hasher may be copied to any thread.
    const summary::KeyHasher& key_hasher() const { return hasher_; }

    /// Adds a key to the summary, or removes it. Called exactly once for each change. `entry`: what
    /// summary::entry_of() makes of the key for the configured kind.
    void stored(summary::KeyHash entry);
    void removed(summary::KeyHash entry);

    /// Begins and ends the import of the keys that a start finds. The keys stored in between are
    /// announced together, as one epoch, after end_import(). Call begin_import() before start(),
    /// while the node has stored nothing.
    void begin_import() { peering_.publisher.begin_import(); }
    void end_import();

    /// Takes the results of all peer requests since the start of this node. The own summary gets a
    /// smaller error where false hits cost more than the budget (summary/sizing/error_control.hpp).
    void note_false_hits(const summary::FalseHitsSeen& in_all);

    /// Sends an invalidation, already applied here, to all peers, and keeps it until each of them
    /// has confirmed it, whatever links break in between. Returns its number. Precondition:
    /// !what.all.
    std::uint64_t invalidate(const Invalidation& what);
    /// Tells `peers`, by number, of a renewal that was at `at`. The message may be lost.
    void tell(const Renewal& renewal, base::Clock::time_point at, const summary::PeerSet& peers);
    std::uint64_t last_invalidation() const { return peering_.invalidations.last(); }
    struct Confirmation {
        std::string node;
        bool confirmed = false;
        bool linked = false;  // this node's link to it is up
    };
    /// The state of each peer with respect to invalidation `number`.
    std::vector<Confirmation> confirmations(std::uint64_t number) const;
    enum class Whom { linked, all };
    /// Waits until all peers, or only the linked ones, have confirmed `number`, or until
    /// `deadline`.
    base::awaitable<void> wait_confirmed(std::uint64_t number, base::Clock::time_point deadline,
                                         Whom whom);

    /// Sends a goodbye to all peers, so that this node's summary stops counting. Peers' summaries
    /// stay in use, and invalidations still reach the peers.
    void withdraw() { links_.say_goodbye(); }
    /// Waits until every linked peer has read the goodbye, or until `deadline`.
    base::awaitable<void> wait_withdrawn(base::Clock::time_point deadline);

    /// Closes everything, so `control` can run out of work. May be called twice.
    void stop();

    ClusterStatus status() const;

    /// Sets the report that peers get after their next heartbeats. Peers of an earlier version get
    /// none. Precondition: 1 to kMaxReportBytes - kReportClockBytes bytes.
    void report(Bytes bytes);
    /// The last reports of peers, in no order.
    std::vector<ReceivedReport> received_reports() const { return links_.received_reports(); }

private:
    void run(bool listens);
    void send_invalidations();
    /// This node's link to the peer is up.
    bool is_linked(std::size_t peer) const;
    bool confirmed(std::uint64_t number, Whom by) const;
    static base::awaitable<void> wait_for(std::shared_ptr<Cluster> self,
                                          base::Clock::time_point deadline,
                                          std::function<bool()> is_true);
    static base::awaitable<void> tend(std::shared_ptr<Cluster> self);
    void tend_now();

    /// Adjusts the summary's error to the number of peers: the more peers, the fewer false hits
    /// each may cost. Call it when the number may have changed. `anew`: also if the publisher knows
    /// the number.
    void provide_for_peers(bool anew = false);
    /// Plans a slice if the publisher or the neighbourhood has work.
    void plan_work();
    void work();
    void plan_announcement();
    void announce();
    void out_of_memory(std::string_view what);
    /// Runs `step` in another turn of the event loop, if the cluster still exists then.
    void soon(void (Cluster::*step)());

    PeeringServices peering_;
    summary::KeyHasher hasher_;
    PeerLinks links_;
    bool stopped_ = false;

    boost::asio::steady_timer announcement_;  // runs until an announcement is due
    bool announcement_runs_ = false;
    bool announcing_ = false;  // an announcement is posted
    bool working_ = false;     // a slice is posted
    summary::ErrorControl error_control_;
    summary::FalseHitsSeen judged_;  // results judged so far
    std::size_t provided_for_ = 0;   // number of peers that the summary's size allows for
};

}  // namespace protocol
