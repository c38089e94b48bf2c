#include "summary/replica.hpp"

#include <cassert>
#include <utility>

namespace summary {

const char* to_string(Apply apply) {
    switch (apply) {
        case Apply::ok:
            return "ok";
        case Apply::repeated:
            return "repeated";
        case Apply::gap:
            return "gap";
        case Apply::wrong_epoch:
            return "wrong_epoch";
        case Apply::malformed:
            return "malformed";
        case Apply::differs:
            return "differs";
    }
    return "unknown";
}

Apply Replica::out_of_step(Apply why) {
    in_sync_ = false;
    return why;
}

Apply Replica::apply_snapshot(std::uint64_t epoch, std::uint64_t generation, Filter filter) {
    if (in_sync_ && epoch == epoch_ && generation < generation_) return Apply::repeated;
    epoch_ = epoch;
    generation_ = generation;
    filter_ = std::move(filter);
    in_sync_ = true;
    return Apply::ok;
}

Replica::Applied Replica::apply_delta(std::uint64_t epoch, std::uint64_t generation,
                                      std::span<const std::byte> payload) {
    if (!in_sync_) return {Apply::gap, std::nullopt};
    if (epoch != epoch_) return {out_of_step(Apply::wrong_epoch), std::nullopt};
    if (generation <= generation_) return {Apply::repeated, std::nullopt};
    if (generation != generation_ + 1) return {out_of_step(Apply::gap), std::nullopt};
    auto change = summary::apply_delta(payload, *filter_);
    if (!change) return {out_of_step(Apply::malformed), std::nullopt};
    generation_ = generation;
    return {Apply::ok, std::move(change)};
}

Apply Replica::heard(std::uint64_t epoch, std::uint64_t generation) {
    if (!in_sync_) return Apply::gap;
    if (epoch != epoch_) return out_of_step(Apply::wrong_epoch);
    if (generation > generation_) return out_of_step(Apply::gap);
    return generation < generation_ ? Apply::repeated : Apply::ok;
}

Apply Replica::check(std::uint64_t epoch, std::uint64_t generation, std::uint64_t check_hash) {
    const auto known = heard(epoch, generation);
    if (known != Apply::ok) return known;
    return summary::check_hash(*filter_) == check_hash ? Apply::ok : out_of_step(Apply::differs);
}

void Replica::forget() {
    *this = Replica();
}

Descriptor Replica::descriptor() const {
    return filter_ ? descriptor_of(*filter_) : Descriptor();
}

bool Replica::contains(const Key& key) const {
    assert(in_sync_);
    return summary::contains(*filter_, key);
}

}  // namespace summary
