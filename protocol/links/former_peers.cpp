#include "protocol/links/former_peers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace protocol {
namespace {

constexpr std::size_t kMaxFormerPeers = 1024;

}  // namespace

void FormerPeers::know(ConfirmedByNode confirmed) {
    confirmed_ = std::move(confirmed);
    forget();
}

void FormerPeers::left(const std::string& node, const PeerProgress& confirmed) {
    ++count;
    confirmed_[node] = confirmed;
    forget();
}

std::optional<FormerPeers::PeerProgress> FormerPeers::returns(const std::string& node) {
    const auto was = confirmed_.extract(node);
    return was.empty() ? std::nullopt : std::optional(was.mapped());
}

void FormerPeers::forget() {
    while (confirmed_.size() > kMaxFormerPeers) {
        // An unknown peer that comes back gets all invalidations, or the order to drop everything.
        confirmed_.erase(std::min_element(confirmed_.begin(), confirmed_.end(),
                                          [](const auto& one, const auto& other) {
                                              return one.second.number < other.second.number;
                                          }));
    }
}

}  // namespace protocol
