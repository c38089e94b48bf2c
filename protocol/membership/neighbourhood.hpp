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
#include "summary/directory.hpp"
#include "summary/replica.hpp"

namespace protocol {

/// How this node asks a peer for objects.
struct PeerAccess {
    std::string token;      // PeerView::Peer::token
    std::uint64_t run = 0;  // PeerView::Peer::run
};

/// What the links know, brought together for the workers: tokens, who counts, and the directory
/// over all replicas. Control thread only; what it hands out may go anywhere.
///
/// Large directories are filled in slices by work(); a peer counts when it is in the one that is
/// handed out. Who comes takes a lane that is to spare in it; if there is none, a new one is built
/// beside the old, over all who are there when it is begun; who comes meanwhile is in the next.
/// What the directory keeps_filter() by itself moves there from its replica, when no other is being
/// built.
class Neighbourhood {
public:
    Neighbourhood();

    /// There is another peer: this is its number. Precondition: number < kMaxPeers, not taken.
    void add_peer(std::size_t peer, std::string node);
    /// Where it answers requests; without a host it cannot be asked.
    void place(std::size_t peer, HostPort http);
    /// It is none any more. Precondition: its source has ended.
    void remove_peer(std::size_t peer);

    std::optional<std::size_t> index_of(std::string_view node) const;
    const std::string& node(std::size_t peer) const { return view_.peers[peer].node; }

    /// We publish to this peer, and it may use this token. The one before stays good.
    void accept(std::size_t peer, std::string token);

    /// A source of this peer's summary begins. `access`: how this node asks the peer for objects.
    void begin_source(std::size_t peer, PeerAccess access);
    /// The source ends: the peer's summary counts no longer, and its replica is used no more.
    void end_source(std::size_t peer);

    /// Is there work to be done in slices?
    bool busy() const;
    /// One slice, a few milliseconds at most.
    void work();

    /// It has a new summary. `replica` must stay where it is until end_source(), and be told of
    /// what comes (which may be done here at once, if its filter has moved).
    void load(std::size_t peer, summary::Replica& replica);
    /// It was done to its replica.
    void change(std::size_t peer, const summary::Change& change);
    void set_in_sync(std::size_t peer, bool in_sync);
    /// It has not confirmed what we invalidated: whatever it says, it does not count yet.
    void set_lagging(std::size_t peer, bool lagging);
    bool lagging(std::size_t peer) const { return standings_[peer].lagging; }
    /// Its summary is in the directory that the workers have.
    bool present(std::size_t peer) const;
    /// As PeerView::Peer::can_be_asked().
    bool can_be_asked(std::size_t peer) const { return view_.peers[peer].can_be_asked(); }
    /// PeerView::places.
    void set_places(std::vector<PeerPlace> places);

    /// Does the present view differ from the one taken last?
    bool changed() const { return changed_; }
    /// And does somebody count no more that counts there? Then it is to be shown at once.
    bool takes_away() const { return takes_away_; }
    /// The present view if it differs from the one taken last; else null.
    std::shared_ptr<const PeerView> take_view();

private:
    struct Standing {
        bool in_sync = false, lagging = false;
    };

    /// Directories that nobody uses any more, to be taken apart in slices. Any thread may bring
    /// one.
    class Graveyard;

    void begin_directory();
    void show_next();
    void settle_one();
    void judge(std::size_t peer);
    void show(std::size_t peer, PeerView::Peer as);

    PeerView view_;
    bool changed_ = true, takes_away_ = false;
    std::vector<Standing> standings_;
    std::shared_ptr<Graveyard> graveyard_;
    std::shared_ptr<summary::Directory> directory_;  // what the workers have
    std::shared_ptr<summary::Directory> next_;       // being filled
    bool next_is_late_ = false;  // somebody has come, or changed shape, since it was begun
    std::vector<summary::Replica*> replicas_;
    std::vector<std::size_t> to_settle_;  // peers whose filters may have to move
};

}  // namespace protocol
