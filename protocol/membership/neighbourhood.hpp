#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_config.hpp"
#include "protocol/membership/peer_view.hpp"
#include "summary/directory/directory.hpp"
#include "summary/directory/replica.hpp"

namespace protocol {

/// The way in which this node asks a peer for objects.
struct PeerAccess {
    std::string token;           // PeerView::Peer::token
    std::uint64_t instance = 0;  // PeerView::Peer::instance
    bool encrypted = false;      // PeerView::Peer::encrypted
};

/// Combines the data of all peers for the workers: tokens, the peers that count, and the directory
/// over all replicas. Control thread only; the views that it hands out may go to any thread.
///
/// A peer's summary comes from a *feed*, which keeps a summary::Replica up to date. The
/// SubscriberEnd of a link is the feed of that peer. A feed calls begin_feed(), load() for
/// each whole summary, change() for each delta, set_in_sync() when the replica gains or loses step,
/// and end_feed() or pause_feed(). It owns the replica. Nothing here refers to links, so a reader
/// of another format, such as Squid's cache digests, can be a feed as well.
///
/// work() loads large directories in slices. A peer counts when it is in the directory of the
/// latest view. A new peer takes a spare lane of that directory. If there is none, the
/// neighbourhood builds another directory over all present peers beside the old one; later peers
/// wait for the next. A filter that the directory keeps (keeps_filter()) moves there from its
/// replica while no directory is being built.
class Neighbourhood {
public:
    Neighbourhood();

    /// A new peer has this number. Precondition: number < kMaxPeers, and it is free.
    void add_peer(std::size_t peer, std::string node);
    /// The address at which the peer answers requests; without a host it is not asked.
    void place(std::size_t peer, base::HostPort http);
    /// The peer is gone. Precondition: its feed has ended.
    void remove_peer(std::size_t peer);

    std::optional<std::size_t> index_of(std::string_view node) const;
    const std::string& node(std::size_t peer) const { return view_.peers[peer].node; }

    /// The peer may use this token in its requests. The token before it stays good.
    void accept(std::size_t peer, std::string token);

    /// A feed of this peer's summary begins. `access` says how this node asks the peer.
    void begin_feed(std::size_t peer, PeerAccess access);
    /// The feed ends. Its replica and the peer's summary stop counting.
    void end_feed(std::size_t peer);
    /// The feed ends, and its replica, which was in step, stays in place for the next one. The
    /// peer's summary stops counting until resume_feed() or load(). Returns false, and changes
    /// nothing, if the summary is not in the directory or another directory is being built.
    bool pause_feed(std::size_t peer);
    /// The next feed has brought that replica in step.
    void resume_feed(std::size_t peer);

    /// Whether there is work in slices.
    bool busy() const;
    /// Does one slice, a few milliseconds at most.
    void work();

    /// The peer has a new summary. `replica` must stay in place until end_feed(). Deltas are
    /// still applied to it; it passes them to the directory if the filter has moved there.
    void load(std::size_t peer, summary::Replica& replica);
    /// The delta was applied to the peer's replica.
    void change(std::size_t peer, const summary::Change& change);
    void set_in_sync(std::size_t peer, bool in_sync);
    /// The peer has unconfirmed invalidations. Its summary counts when it has confirmed them.
    void set_lagging(std::size_t peer, bool lagging);
    /// PeerView::Peer::renews.
    void set_renews(std::size_t peer, bool renews);
    bool renews(std::size_t peer) const { return view_.peers[peer].renews; }
    bool lagging(std::size_t peer) const { return standings_[peer].lagging; }
    /// Whether its summary is in the workers' directory.
    bool present(std::size_t peer) const;
    /// See PeerView::Peer::can_be_asked().
    bool can_be_asked(std::size_t peer) const { return view_.peers[peer].can_be_asked(); }
    /// The peer supplies its summary by a link in the clear.
    bool comes_in_the_clear(std::size_t peer) const {
        return view_.peers[peer].has_feed && !view_.peers[peer].encrypted;
    }
    /// See PeerView::places.
    void set_places(std::vector<PeerPlace> places);

    /// Whether the present view differs from the last one taken.
    bool changed() const { return changed_; }
    /// Whether a peer has stopped counting since then. Such a view is shown at once.
    bool takes_away() const { return takes_away_; }
    /// The present view, or null if it equals the last one taken.
    std::shared_ptr<const PeerView> take_view();

private:
    struct Standing {
        bool in_sync = false, lagging = false, paused = false;
    };

    /// Discarded directories, which are taken apart in slices. Any thread may add one.
    class Graveyard;

    void hide(std::size_t peer);
    void begin_directory();
    void show_next();
    void settle_one();
    void judge(std::size_t peer);
    void show(std::size_t peer, PeerView::Peer as);

    PeerView view_;
    bool changed_ = true, takes_away_ = false;
    std::vector<Standing> standings_;
    std::shared_ptr<Graveyard> graveyard_;
    std::shared_ptr<summary::Directory> directory_;  // in the latest view
    std::shared_ptr<summary::Directory> next_;       // being loaded
    bool next_is_late_ = false;  // a peer has come, or has changed its shape, since it was begun
    std::vector<summary::Replica*> replicas_;
    std::vector<std::size_t> to_settle_;  // peers whose filters may move
};

}  // namespace protocol
