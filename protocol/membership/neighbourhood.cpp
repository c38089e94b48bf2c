#include "protocol/membership/neighbourhood.hpp"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

namespace protocol {

namespace {

// Slices take one or two milliseconds, and up to six on a busy machine.
constexpr std::uint64_t kWordsLoadedAtOnce = std::uint64_t{1} << 16;
constexpr std::uint64_t kWordsReleasedAtOnce = std::uint64_t{1} << 21;

bool has_as(const std::shared_ptr<summary::Directory>& directory, std::size_t peer,
            const summary::Descriptor& sort) {
    return directory && directory->descriptor(static_cast<unsigned>(peer)) == sort;
}

}  // namespace

/// Keeps discarded directories, so that the last worker to release one is spared giving back
/// gigabytes.
class Neighbourhood::Graveyard {
public:
    void bury(std::unique_ptr<summary::Directory> directory) {
        const std::lock_guard lock(mutex_);
        dead_.push_back(std::move(directory));
    }
    bool empty() const {
        const std::lock_guard lock(mutex_);
        return dead_.empty();
    }
    void dig() {
        const std::lock_guard lock(mutex_);
        if (!dead_.empty() && dead_.back()->release(kWordsReleasedAtOnce)) dead_.pop_back();
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<summary::Directory>> dead_;
};

Neighbourhood::Neighbourhood() : graveyard_(std::make_shared<Graveyard>()) {}

void Neighbourhood::add_peer(std::size_t peer, std::string node) {
    assert(peer < kMaxPeers && !node.empty());
    if (view_.peers.size() <= peer) {
        view_.peers.resize(peer + 1);
        standings_.resize(peer + 1);
        replicas_.resize(peer + 1);
    }
    PeerView::Peer shown;
    shown.node = std::move(node);
    show(peer, std::move(shown));
    standings_[peer] = {};
}

void Neighbourhood::place(std::size_t peer, base::HostPort http) {
    const auto& before = view_.peers[peer];
    if (before.http == http) return;
    auto shown = before;
    shown.http = std::move(http);
    show(peer, std::move(shown));
    judge(peer);
}

void Neighbourhood::remove_peer(std::size_t peer) {
    assert(replicas_[peer] == nullptr);
    show(peer, {});
    takes_away_ = true;
    standings_[peer] = {};
}

std::optional<std::size_t> Neighbourhood::index_of(std::string_view node) const {
    if (node.empty()) return std::nullopt;
    for (std::size_t i = 0; i < view_.peers.size(); ++i) {
        if (view_.peers[i].node == node) return i;
    }
    return std::nullopt;
}

void Neighbourhood::accept(std::size_t peer, std::string token) {
    auto shown = view_.peers[peer];
    shown.accepted[1] = std::exchange(shown.accepted[0], std::move(token));
    show(peer, std::move(shown));
}

void Neighbourhood::begin_feed(std::size_t peer, PeerAccess access) {
    auto shown = view_.peers[peer];
    shown.has_feed = true;
    shown.token = std::move(access.token);
    shown.instance = access.instance;
    shown.encrypted = access.encrypted;
    show(peer, std::move(shown));
}

/// Without a feed the peer is not asked.
void Neighbourhood::hide(std::size_t peer) {
    auto shown = view_.peers[peer];
    shown.has_feed = false;
    shown.token.clear();
    shown.in_sync = false;
    takes_away_ = true;
    show(peer, std::move(shown));
    standings_[peer].in_sync = false;
}

bool Neighbourhood::pause_feed(std::size_t peer) {
    const auto* const replica = replicas_[peer];
    const bool is_built = !next_ && !next_is_late_ && directory_ && !directory_->loading();
    if (!is_built || replica == nullptr || !present(peer)) return false;
    assert(has_as(directory_, peer, replica->descriptor()));
    hide(peer);
    standings_[peer].paused = true;
    directory_->deactivate(static_cast<unsigned>(peer));
    return true;
}

/// Each directory that was built meanwhile has the summary.
void Neighbourhood::resume_feed(std::size_t peer) {
    standings_[peer].paused = false;
    directory_->activate(static_cast<unsigned>(peer));
}

void Neighbourhood::end_feed(std::size_t peer) {
    hide(peer);
    standings_[peer].paused = false;
    if (auto* const replica = std::exchange(replicas_[peer], nullptr)) {
        if (replica->keeper() != nullptr) replica->forget();
        const auto index = static_cast<unsigned>(peer);
        if (directory_) directory_->drop(index);
        if (next_) next_->drop(index);
    }
}

void Neighbourhood::load(std::size_t peer, summary::Replica& replica) {
    const bool works = next_ || (directory_ && directory_->loading());
    replicas_[peer] = &replica;
    standings_[peer].paused = false;
    if (std::find(to_settle_.begin(), to_settle_.end(), peer) == to_settle_.end())
        to_settle_.push_back(peer);
    const auto index = static_cast<unsigned>(peer);
    const auto place_in = [&](const std::shared_ptr<summary::Directory>& directory) {
        const bool fits = has_as(directory, peer, replica.descriptor()) ||
                          (directory && directory->adopt(index, replica.descriptor()));
        if (fits) directory->begin_load(index, replica.filter());
        return fits;
    };
    // A peer that has changed its shape goes on counting with its earlier summary until the next
    // directory is shown.
    const bool is_there = place_in(directory_);
    if (!is_there && directory_) directory_->forget(index);
    const bool will_be_there = place_in(next_);
    if (!will_be_there && next_) next_->drop(index);
    if (next_ ? !will_be_there : !is_there) next_is_late_ = true;
    if (!works) work();  // small work ends at once
}

void Neighbourhood::change(std::size_t peer, const summary::Change& change) {
    assert(replicas_[peer] != nullptr);
    const auto& replica = *replicas_[peer];
    for (const auto& directory : {directory_, next_}) {
        if (replica.keeper() != directory.get() && has_as(directory, peer, replica.descriptor())) {
            directory->apply(static_cast<unsigned>(peer), change);
        }
    }
}

bool Neighbourhood::busy() const {
    return next_ || next_is_late_ || (directory_ && directory_->loading()) || !to_settle_.empty() ||
           !graveyard_->empty();
}

void Neighbourhood::work() {
    if (!next_ && next_is_late_) begin_directory();
    if (next_) {
        if (!next_->load_some(kWordsLoadedAtOnce)) return;
        show_next();
    } else if (directory_ && directory_->loading()) {
        directory_->load_some(kWordsLoadedAtOnce);
    } else if (!to_settle_.empty()) {
        return settle_one();
    } else {
        return graveyard_->dig();
    }
    for (std::size_t i = 0; i < view_.peers.size(); ++i) judge(i);
}

/// Filters kept by the old directory were loaded into the next one. A filter without room there is
/// lost, and its peer will be asked for a snapshot.
void Neighbourhood::show_next() {
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
        auto* const replica = replicas_[i];
        if (replica == nullptr || replica->keeper() == nullptr) continue;
        const auto peer = static_cast<unsigned>(i);
        next_->keeps_filter(peer) ? replica->move_to(*next_, peer) : replica->forget();
    }
    for (std::size_t i = 0; i < standings_.size(); ++i)
        if (standings_[i].paused) next_->deactivate(static_cast<unsigned>(i));
    directory_ = std::move(next_);
    next_.reset();
    changed_ = true;
}

/// Moves one filter at a time, as freeing a replica's memory takes time.
void Neighbourhood::settle_one() {
    const auto peer = to_settle_.back();
    to_settle_.pop_back();
    auto* const replica = replicas_[peer];
    const auto index = static_cast<unsigned>(peer);
    if (replica != nullptr && replica->keeper() == nullptr &&
        has_as(directory_, peer, replica->descriptor()) && directory_->keeps_filter(index))
        replica->move_to(*directory_, index);
}

void Neighbourhood::set_places(std::vector<PeerPlace> places) {
    if (view_.places ? *view_.places == places : places.empty()) return;
    view_.places = std::make_shared<const std::vector<PeerPlace>>(std::move(places));
    changed_ = true;
}

bool Neighbourhood::present(std::size_t peer) const {
    return directory_ && directory_->is_active(static_cast<unsigned>(peer));
}

void Neighbourhood::set_in_sync(std::size_t peer, bool in_sync) {
    standings_[peer].in_sync = in_sync;
    judge(peer);
}

void Neighbourhood::set_lagging(std::size_t peer, bool lagging) {
    standings_[peer].lagging = lagging;
    judge(peer);
}

void Neighbourhood::set_renews(std::size_t peer, bool renews) {
    if (view_.peers[peer].renews == renews) return;
    auto shown = view_.peers[peer];
    shown.renews = renews;
    show(peer, std::move(shown));
}

void Neighbourhood::judge(std::size_t peer) {
    const bool counts = standings_[peer].in_sync && !standings_[peer].lagging && present(peer) &&
                        !view_.peers[peer].http.host.empty();
    if (view_.peers[peer].in_sync == counts) return;
    auto shown = view_.peers[peer];
    shown.in_sync = counts;
    takes_away_ = takes_away_ || !counts;
    show(peer, std::move(shown));
}

void Neighbourhood::show(std::size_t peer, PeerView::Peer as) {
    view_.peers.set(peer, std::move(as));
    changed_ = true;
}

std::shared_ptr<const PeerView> Neighbourhood::take_view() {
    takes_away_ = false;
    if (!std::exchange(changed_, false)) return nullptr;
    view_.directory = directory_;
    return std::make_shared<const PeerView>(view_);
}

void Neighbourhood::begin_directory() {
    std::vector<summary::Directory::Member> members;
    for (std::size_t i = 0; i < view_.peers.size(); ++i) {
        const auto* const replica = replicas_[i];
        // A forgotten replica waits for a snapshot.
        if (replica == nullptr || replica->descriptor() == summary::Descriptor()) continue;
        const auto* const keeper = replica->keeper();
        // An overflowed lane has lost its filter, too.
        if (keeper != nullptr && !keeper->keeps_filter(static_cast<unsigned>(i))) continue;
        members.push_back({static_cast<unsigned>(i), replica->descriptor(),
                           keeper == nullptr ? &replica->filter() : nullptr, keeper});
    }
    auto directory = std::make_unique<summary::Directory>(members, summary::Directory::InSlices{});
    next_ = {directory.release(), [graveyard = graveyard_](summary::Directory* of) {
                 graveyard->bury(std::unique_ptr<summary::Directory>(of));
             }};
    next_is_late_ = false;
}

}  // namespace protocol
