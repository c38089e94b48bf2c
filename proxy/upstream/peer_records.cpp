#include "proxy/upstream/peer_records.hpp"

#include <utility>

#include "summary/directory/directory.hpp"

namespace proxy {
namespace {

/// The longest time that an announcement is on its way, and waits for its turn.
constexpr std::chrono::seconds kOnItsWay{2};

}  // namespace

void PeerRecords::follow(View view) {
    const auto same = view_ && view && view_->peers.same_nodes(view->peers);
    if (!same && view) {  // peers have come or gone
        std::vector<PeerRecord> records(view->peers.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            auto* known = of(view->peers[i].node);
            if (known != nullptr) records[i] = std::exchange(*known, PeerRecord());
        }
        for (const auto& left : records_) gone_.add(left.counts());
        records_ = std::move(records);
        find_denying();
    }
    view_ = std::move(view);
    for (std::size_t i = 0; view_ && i < view_->peers.size(); ++i)
        records_[i].belongs_to(view_->peers[i].instance);
}

PeerRecord* PeerRecords::of(std::string_view node) {
    if (node.empty()) return nullptr;
    for (std::size_t i = 0; view_ && i < view_->peers.size(); ++i)
        if (view_->peers[i].node == node) return &records_[i];
    return nullptr;
}

PeerRecord* PeerRecords::of(std::string_view node, std::uint64_t instance) {
    auto* const record = of(node);
    return record != nullptr && record->instance() == instance ? record : nullptr;
}

PeerRecord& PeerRecords::of_or_gone(std::string_view node) {
    auto* record = of(node);
    return record != nullptr ? *record : gone_;
}

void PeerRecords::note_false_hit(const std::string& node, const summary::Key& key,
                                 PeerRecord::Time now, std::chrono::nanoseconds announce_delay) {
    judge_false_hits(now);
    false_hits_.note(node, key, now + announce_delay + kOnItsWay);
}

void PeerRecords::note_denial(const std::string& node, bool had_it, bool sampled) {
    auto& record = of_or_gone(node);
    sampled ? record.sampled(had_it) : record.denied(had_it);
    find_denying();
}

void PeerRecords::find_denying() {
    denying_ = {};
    for (std::size_t i = 0; i < records_.size(); ++i)
        if (records_[i].false_miss_rate() > 0) denying_.insert(static_cast<unsigned>(i));
}

void PeerRecords::judge_false_hits(PeerRecord::Time now) {
    using Withdrawal = FalseHits::Withdrawal;
    const auto look = [this](const std::string& node, const summary::Key& key) {
        const auto named = view_ ? peers_named({node}, *view_) : summary::PeerSet();
        if (named.empty() || !view_->directory || !view_->peers[*named.begin()].in_sync ||
            !view_->directory->is_active(*named.begin()))
            return Withdrawal::unknown;
        const auto promising = view_->directory->candidates(key);
        return promising.contains(*named.begin()) ? Withdrawal::no : Withdrawal::yes;
    };
    const auto book = [this](const std::string& node, FalseHits::Cause cause) {
        of_or_gone(node).false_hit_was(cause);
    };
    false_hits_.judge(now, look, book);
}

}  // namespace proxy
