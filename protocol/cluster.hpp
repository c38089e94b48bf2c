#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/links/cluster_hooks.hpp"
#include "protocol/links/cluster_status.hpp"
#include "protocol/membership/cluster_config.hpp"
#include "protocol/net/deadline.hpp"
#include "protocol/publishing/kept_invalidations.hpp"
#include "summary/error_control.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// This node's part in the cluster: tells each peer what we store, and keeps a replica of what each
/// peer stores. Publishes by dialling every peer and hears from peers that dial us, one direction
/// per connection. Who is a peer may change (Membership). Works with no peers at all; then it only
/// keeps the own summary.
///
/// Everything here runs on the control thread, the one that runs `control`. Trouble with a peer
/// costs that peer its link and is logged; nothing throws after start().
class Cluster {
public:
    /// Throws std::invalid_argument when the configuration cannot work (key too short, two peers of
    /// one name, peers but no key).
    Cluster(boost::asio::io_context& control, ClusterConfig config, ClusterHooks hooks);
    ~Cluster();  // as stop()
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// Binds the link port and begins to dial. Throws boost::system::system_error that names the
    /// address when that fails.
    void start();

    /// Before start(): peers are told what an earlier run of this node has invalidated and they
    /// have not confirmed. Precondition: it hashed keys as this one does.
    void go_on_from(const KeptInvalidations& earlier);
    /// What the next run is to go on from. Takes some ms where many are kept, so not for each
    /// invalidate(): what that was given, with the number that it returned, comes on top.
    KeptInvalidations kept_invalidations() const;
    /// The `confirmed` of it alone.
    KeptInvalidations::ConfirmedByNode confirmed_by_node() const;

    /// As start(), but goes on where `earlier` stops: with the keys that it was told of and the
    /// invalidations that are not confirmed, at its link port, which is not closed in between, and
    /// as the same run of this node. Links begin anew, each with a snapshot. Precondition: the same
    /// node, link address and key hash.
    void start_in_place_of(Cluster& earlier);

    /// From now on these are the peers, and these the names behind which there are more. Whoever
    /// stays keeps his links. Throws std::invalid_argument, and changes nothing, as the
    /// constructor.
    void set_peers(std::vector<PeerConfig> listed, std::vector<DnsPeers> names);

    /// Port of the link listener (for tests, which bind port 0); 0 when there is none.
    std::uint16_t link_port() const;

    /// Hashes keys as all nodes of this cluster do. May be copied to any thread.
    summary::KeyHasher key_hasher() const;

    /// Each key exactly once when it becomes, or ceases to be, part of the summary: what
    /// summary::entry_of() the configured kind makes of it.
    void stored(summary::KeyHash entry);
    void removed(summary::KeyHash entry);

    /// For a node that finds much at its start: what is stored from now on goes out as one epoch
    /// after end_import(); until then nobody is told of any of it. Before start(), while nothing is
    /// stored.
    void begin_import();
    void end_import();

    /// What this node's questions to peers have shown in all, from its start on: the own summary's
    /// error follows.
    void note_false_hits(const summary::FalseHitsSeen& in_all);

    /// All peers are to drop this too, which is done here already. Kept until each of them has
    /// confirmed it, in whatever order links come and go. Returns its number. Precondition:
    /// !what.all.
    std::uint64_t invalidate(const Invalidation& what);
    std::uint64_t last_invalidation() const;
    struct Confirmation {
        std::string node;
        bool confirmed = false;
        bool linked = false;  // our link to it is up
    };
    /// How far the peers are with invalidation `number`.
    std::vector<Confirmation> confirmations(std::uint64_t number) const;
    enum class Whom { linked, all };
    /// Waits until all peers have confirmed `number`, or those to whom there is a link, or
    /// `deadline` has passed.
    awaitable<void> wait_confirmed(std::uint64_t number, Clock::time_point deadline, Whom whom);

    /// Goodbye to all peers: our summary no longer counts. Peers' summaries are still kept, and
    /// what is invalidated goes on to reach them.
    void withdraw();
    /// Waits until every peer to whom there was a link has read the goodbye, or `deadline` has
    /// passed.
    awaitable<void> wait_withdrawn(Clock::time_point deadline);

    /// Closes everything; `control` can then run out of work. May be called twice.
    void stop();

    ClusterStatus status() const;

private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace protocol
