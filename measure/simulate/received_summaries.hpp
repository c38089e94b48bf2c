#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "summary/directory/directory.hpp"
#include "summary/directory/peer_set.hpp"
#include "summary/directory/replica.hpp"
#include "summary/sizing/key.hpp"

namespace measure {

/// The summaries of simulated proxies, as one proxy has received them: a production directory for
/// each descriptor, with a lane for every proxy. A directory exists as long as peers use its
/// descriptor. Proxies without a summary promise no key. Memory: that of the directories.
class ReceivedSummaries {
public:
    explicit ReceivedSummaries(std::size_t proxies);

    /// Replaces the filter of a peer; the new one may have another descriptor.
    void load(unsigned peer, const summary::Filter& filter);
    /// Moves the filter of a replica into the directory if the directory can hold the only copy.
    /// The replica then follows by itself.
    void settle(unsigned peer, summary::Replica& replica);
    /// Returns true if the directory is as exact as the replica, so a node would drop the replica's
    /// filter.
    bool keeps_filter(unsigned peer) const {
        return places_[peer] != nullptr && places_[peer]->keeps_filter(peer);
    }
    /// Applies a change to the loaded filter.
    void apply(unsigned peer, const summary::Change& change);
    /// Ignores a peer until its next load().
    void drop(unsigned peer);

    /// Returns the proxies whose summaries contain the key.
    summary::PeerSet candidates(const summary::Key& key) const;
    std::uint64_t memory_bytes() const;

private:
    struct Sort {
        summary::Descriptor of;
        std::unique_ptr<summary::Directory> directory;
        std::size_t counting = 0;  // peers
    };

    summary::Directory& directory_for(const summary::Descriptor& of);

    std::size_t proxies_;
    std::vector<Sort> sorts_;
    std::vector<summary::Directory*> places_;  // directory of each peer; null: none
};

}  // namespace measure
