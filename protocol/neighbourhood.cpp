#include "protocol/neighbourhood.hpp"

#include <cassert>
#include <utility>

namespace protocol {

static_assert(kMaxPeers == summary::kMaxPeers);

Neighbourhood::Neighbourhood(const std::vector<PeerConfig>& peers) {
    assert(peers.size() <= kMaxPeers);
    for (const auto& config : peers) {
        PeerView::Peer peer;
        peer.node = config.node;
        peer.http_host = config.http_host;
        peer.http_port = config.http_port;
        view_.peers.push_back(std::move(peer));
    }
}

std::optional<std::size_t> Neighbourhood::index_of(std::string_view node) const {
    for (std::size_t i = 0; i < view_.peers.size(); ++i) {
        if (view_.peers[i].node == node) return i;
    }
    return std::nullopt;
}

void Neighbourhood::accept(std::size_t peer, std::string token) {
    auto& accepted = view_.peers[peer].accepted;
    accepted[1] = std::exchange(accepted[0], std::move(token));
    changed_ = true;
}

void Neighbourhood::linked(std::size_t peer, std::string token) {
    view_.peers[peer].token = std::move(token);
    changed_ = true;
}

void Neighbourhood::unlinked(std::size_t peer) {
    view_.peers[peer].token.clear();
    standings_[peer].in_step = false;
    judge(peer);
    if (std::exchange(replicas_[peer], nullptr) != nullptr) {
        directory_->drop(static_cast<unsigned>(peer));
    }
    changed_ = true;
}

void Neighbourhood::load(std::size_t peer, const summary::Replica& replica) {
    replicas_[peer] = &replica;
    const auto index = static_cast<unsigned>(peer);
    if (directory_ && directory_->shape(index) == replica.shape()) {
        directory_->load(index, replica.bits());
    } else {
        rebuild_directory();
    }
}

void Neighbourhood::change(std::size_t peer, const summary::Delta& delta) {
    assert(replicas_[peer] != nullptr);
    directory_->apply(static_cast<unsigned>(peer), delta);
}

void Neighbourhood::set_in_step(std::size_t peer, bool in_step) {
    standings_[peer].in_step = in_step;
    judge(peer);
}

void Neighbourhood::set_behind(std::size_t peer, bool behind) {
    standings_[peer].behind = behind;
    judge(peer);
}

void Neighbourhood::judge(std::size_t peer) {
    const bool counts = standings_[peer].in_step && !standings_[peer].behind;
    if (std::exchange(view_.peers[peer].in_step, counts) != counts) changed_ = true;
}

std::shared_ptr<const PeerView> Neighbourhood::take_view() {
    if (!std::exchange(changed_, false)) return nullptr;
    view_.directory = directory_;
    return std::make_shared<const PeerView>(view_);
}

void Neighbourhood::rebuild_directory() {
    std::vector<summary::Directory::Member> members;
    for (std::size_t i = 0; i < view_.peers.size(); ++i) {
        const auto* replica = replicas_[i];
        if (replica == nullptr) continue;
        members.push_back({static_cast<unsigned>(i), replica->shape(), &replica->bits()});
    }
    directory_ = std::make_shared<summary::Directory>(members);
    changed_ = true;
}

}  // namespace protocol
