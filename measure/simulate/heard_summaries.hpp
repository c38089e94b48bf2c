#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "summary/directory.hpp"
#include "summary/key.hpp"
#include "summary/peer_set.hpp"
#include "summary/replica.hpp"

namespace measure {

/// What somebody knows of the summaries of simulated proxies: a production directory for each sort
/// of summary, with a lane for everybody, made and left as sorts come and go. Who has no summary
/// claims nothing. Memory: as the directories.
class HeardSummaries {
public:
    explicit HeardSummaries(std::size_t proxies);

    /// It has another filter, perhaps of another sort.
    void load(unsigned peer, const summary::Filter& filter);
    /// Lets a filter that was loaded move here, if it needs to be nowhere else: it follows by
    /// itself then.
    void settle(unsigned peer, summary::Replica& replica);
    /// Whether it is as good as the replica, so that a node keeps no other.
    bool keeps_filter(unsigned peer) const {
        return places_[peer] != nullptr && places_[peer]->keeps_filter(peer);
    }
    /// A change of the filter that it was loaded with.
    void apply(unsigned peer, const summary::Change& change);
    /// It no longer counts, until it is loaded again.
    void drop(unsigned peer);

    /// Those whose summaries claim the key.
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
    std::vector<summary::Directory*> places_;  // of the peers; null: none
};

}  // namespace measure
