#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <vector>

#include "measure/simulate/announced_knowledge.hpp"

namespace measure {

/// The paper's first two representations: each proxy announces to all others its URLs, or the hosts
/// of its URLs, after a share of them has changed. Source: Fan et al. 2000 §V-A.
class PaperDirectories final : public AnnouncedKnowledge {
public:
    // The paper's model of an update: its head, and each change.
    static constexpr std::uint64_t kHeadBytes = 20, kChangeBytes = 16;

    /// `shared.config.scheme`: exact_directory or server_names.
    explicit PaperDirectories(const KnowledgeInputs& shared);

    void advance(TimePoint now) override;
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const override;
    /// Compares host names if hosts are announced.
    bool was_announced(std::size_t proxy, std::size_t peer, std::uint32_t object) const override;
    std::uint64_t summary_bytes() const override;

private:
    struct NameChange {
        std::uint32_t name = 0;
        bool is_stored = false;
    };
    struct Update {
        TimePoint arrives;
        std::size_t proxy = 0;
        std::vector<NameChange> names;
        std::vector<AnnouncedObjects::Change> objects;  // whose hosts are announced
    };

    std::uint32_t name_of(std::uint32_t object) const {
        return hosts_.empty() ? object : hosts_[object];
    }
    bool is_news(std::size_t proxy, std::uint32_t name, bool is_stored);
    void changed(std::size_t proxy, std::uint32_t object, bool is_stored, TimePoint now) override;

    std::vector<std::uint32_t> hosts_;  // by object; empty: each object is its own name
    std::size_t names_ = 0;
    std::vector<boost::unordered_flat_map<std::uint32_t, std::uint32_t>>
        announced_by_host_;  // for each proxy, the number of announced objects of each host
    Holders received_;       // names
    std::deque<Update> under_way_;
};

}  // namespace measure
