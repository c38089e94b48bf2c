#include "summary/directory/replica.hpp"

#include <cassert>
#include <utility>

#include "summary/directory/directory.hpp"

namespace summary {

ApplyResult Replica::out_of_step(ApplyResult why) {
    in_sync_ = false;
    return why;
}

ApplyResult Replica::apply_snapshot(std::uint64_t epoch, std::uint64_t generation, Filter filter) {
    if (in_sync_ && epoch == epoch_ && generation < generation_) return ApplyResult::repeated;
    epoch_ = epoch;
    generation_ = generation;
    filter_ = std::move(filter);
    keeper_ = nullptr;
    in_sync_ = true;
    return ApplyResult::ok;
}

Replica::Applied Replica::apply_delta(std::uint64_t epoch, std::uint64_t generation,
                                      std::span<const std::byte> payload) {
    if (!in_sync_) return {ApplyResult::gap, std::nullopt};
    if (epoch != epoch_) return {out_of_step(ApplyResult::wrong_epoch), std::nullopt};
    if (generation <= generation_) return {ApplyResult::repeated, std::nullopt};
    if (generation != generation_ + 1) return {out_of_step(ApplyResult::gap), std::nullopt};
    auto change = keeper_ != nullptr ? keeper_->apply_delta(peer_, payload)
                                     : summary::apply_delta(payload, *filter_);
    if (!change) {
        const bool no_room = keeper_ != nullptr && !keeper_->keeps_filter(peer_);
        return {out_of_step(no_room ? ApplyResult::differs : ApplyResult::malformed), std::nullopt};
    }
    generation_ = generation;
    return {ApplyResult::ok, std::move(change)};
}

ApplyResult Replica::heard(std::uint64_t epoch, std::uint64_t generation) {
    if (!in_sync_) return ApplyResult::gap;
    if (epoch != epoch_) return out_of_step(ApplyResult::wrong_epoch);
    if (generation > generation_) return out_of_step(ApplyResult::gap);
    return generation < generation_ ? ApplyResult::repeated : ApplyResult::ok;
}

ApplyResult Replica::check(std::uint64_t epoch, std::uint64_t generation,
                           std::uint64_t check_hash) {
    const auto known = heard(epoch, generation);
    if (known != ApplyResult::ok) return known;
    const auto ours =
        keeper_ != nullptr ? keeper_->check_hash(peer_) : summary::check_hash(*filter_);
    return ours == check_hash ? ApplyResult::ok : out_of_step(ApplyResult::differs);
}

void Replica::move_to(Directory& directory, unsigned peer) {
    assert(directory.keeps_filter(peer) && directory.descriptor(peer) == descriptor());
    keeper_ = &directory;
    peer_ = peer;
    filter_.reset();
}

void Replica::forget() {
    *this = Replica();
}

Descriptor Replica::descriptor() const {
    if (keeper_ != nullptr) return keeper_->descriptor(peer_);
    return filter_ ? descriptor_of(*filter_) : Descriptor();
}

}  // namespace summary
