#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_view.hpp"
#include "proxy/upstream/false_hits.hpp"
#include "proxy/upstream/miss_samples.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "summary/directory/peer_set.hpp"

namespace proxy {

/// One worker's knowledge of its peers. Numbers change with the view, and a record goes with its
/// name. One thread.
class PeerRecords {
public:
    using View = std::shared_ptr<const protocol::PeerView>;

    /// `seed`: of the choice of samples.
    explicit PeerRecords(std::uint64_t seed) : samples_(seed) {}

    /// Sets the peers of now; null: there is no cluster.
    void follow(View view);
    const View& view() const { return view_; }

    /// The record of this peer; null: it is no peer any more.
    PeerRecord* of(std::string_view node);
    /// The same; null, too, when another instance of the node is the peer by now.
    PeerRecord* of(std::string_view node, std::uint64_t instance);
    /// The same, or the shared record of all former peers.
    PeerRecord& of_or_gone(std::string_view node);
    /// By the numbers of the view.
    std::vector<PeerRecord>& all() { return records_; }
    const std::vector<PeerRecord>& all() const { return records_; }
    /// The counts of all former peers.
    const PeerCounters& of_gone() const { return gone_.counts(); }
    /// The peers whose false_miss_rate() is above 0.
    const summary::PeerSet& denying() const { return denying_; }
    MissSamples& samples() { return samples_; }

    /// Notes a false hit of `node`, whose cause shows later. `announce_delay`: the longest time
    /// that a node keeps a change of its summary back.
    void note_false_hit(const std::string& node, const summary::Key& key, PeerRecord::Time now,
                        std::chrono::nanoseconds announce_delay);
    /// The peer got a request in spite of its summary's no. `sampled`: only to measure that.
    void note_denial(const std::string& node, bool had_it, bool sampled);
    /// Books the causes that have shown by now.
    void judge_false_hits(PeerRecord::Time now);

private:
    void find_denying();

    View view_;
    std::vector<PeerRecord> records_;
    PeerRecord gone_;
    summary::PeerSet denying_;
    FalseHits false_hits_;
    MissSamples samples_;
};

}  // namespace proxy
