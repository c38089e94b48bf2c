#include "summary/replica.hpp"

#include <algorithm>
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
    in_step_ = false;
    return why;
}

Apply Replica::apply_snapshot(std::uint64_t epoch, std::uint64_t generation, Shape shape,
                              BitArray bits) {
    if (!is_valid(shape) || bits.size() != shape.bits) return out_of_step(Apply::malformed);
    if (in_step_ && epoch == epoch_ && generation < generation_) return Apply::repeated;
    epoch_ = epoch;
    generation_ = generation;
    shape_ = shape;
    bits_ = std::move(bits);
    in_step_ = true;
    return Apply::ok;
}

Apply Replica::apply_delta(std::uint64_t epoch, std::uint64_t generation, const Delta& delta) {
    if (!in_step_) return Apply::gap;
    if (epoch != epoch_) return out_of_step(Apply::wrong_epoch);
    if (generation <= generation_) return Apply::repeated;
    if (generation != generation_ + 1) return out_of_step(Apply::gap);
    if (!is_valid(delta, shape_.bits)) return out_of_step(Apply::malformed);
    summary::apply(delta, bits_);
    generation_ = generation;
    return Apply::ok;
}

Apply Replica::heard(std::uint64_t epoch, std::uint64_t generation) {
    if (!in_step_) return Apply::gap;
    if (epoch != epoch_) return out_of_step(Apply::wrong_epoch);
    if (generation > generation_) return out_of_step(Apply::gap);
    return generation < generation_ ? Apply::repeated : Apply::ok;
}

Apply Replica::check(std::uint64_t epoch, std::uint64_t generation, std::uint64_t check_hash) {
    const auto known = heard(epoch, generation);
    if (known != Apply::ok) return known;
    return bits_.check_hash() == check_hash ? Apply::ok : out_of_step(Apply::differs);
}

void Replica::forget() {
    *this = Replica();
}

bool Replica::contains(KeyHash key) const {
    assert(in_step_);
    const auto wanted = positions(key, shape_);
    return std::all_of(wanted.begin(), wanted.end(),
                       [this](std::uint64_t position) { return bits_.get(position); });
}

}  // namespace summary
